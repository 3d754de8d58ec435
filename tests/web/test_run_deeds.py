"""What a person does to one run: run it again, cancel it, say how it ended."""

import pytest

from core.models import JournalEntry, Partition
from scheduling import claims
from tests.engine import world
from tests.engine.world import NOW
from tests.web.reading import read

pytestmark = pytest.mark.django_db


class TestRetry:
    def test_queues_the_same_run_again_with_the_reason(self, visitor, run):
        claims.fail(world.start(run), "boom", at=NOW)
        assert "Run it again?" in read(visitor.get(f"/runs/{run.pk}/retry")).text
        response = visitor.post(f"/runs/{run.pk}/retry", {"reason": "mended"})
        assert response["Location"] == f"/runs/{run.pk}"
        run.refresh_from_db()
        assert run.state == "queued"
        assert JournalEntry.objects.get(event="run retried").reason == "mended"

    def test_one_that_has_not_ended_cannot_be(self, visitor, run):
        response = visitor.post(f"/runs/{run.pk}/retry")
        assert response.status_code == 409
        assert "has not ended" in read(response).text


class TestCancel:
    def test_ends_a_queued_run(self, visitor, run):
        visitor.post(f"/runs/{run.pk}/cancel")
        run.refresh_from_db()
        assert run.state == "cancelled"

    def test_asks_a_running_one_to_stop_and_says_so(self, visitor, run):
        world.start(run)
        visitor.post(f"/runs/{run.pk}/cancel")
        assert "Somebody asked it to stop" in read(visitor.get(f"/runs/{run.pk}")).text

    def test_one_that_has_ended_cannot_be(self, visitor, run):
        world.finish(world.start(run), "daily")
        response = visitor.post(f"/runs/{run.pk}/cancel")
        assert response.status_code == 409
        assert "has ended already" in read(response).text


class TestMark:
    def test_says_how_a_run_ended_and_keeps_the_reason(self, visitor, run):
        claims.fail(world.start(run), "boom", at=NOW)
        asked = read(visitor.get(f"/runs/{run.pk}/mark"))
        assert "Mark the run of nightly for 2026-03-09? It is failed. Marking" in asked.text
        assert "It runs nothing, and writes or takes back no data." in asked.text
        assert [each.attributes["value"] for each in asked.all("input", name="as")] == ["success"]
        answer = visitor.post(f"/runs/{run.pk}/mark", {"as": "success", "reason": "mended by hand"})
        assert answer["Location"] == f"/runs/{run.pk}"
        run.refresh_from_db()
        assert run.state == "success"
        assert not Partition.objects.filter(state="failed").exists()
        assert JournalEntry.objects.get(event="run marked").reason == "mended by hand"

    def test_one_that_runs_is_taken_from_its_worker(self, visitor, run):
        started = world.start(run)
        asked = read(visitor.get(f"/runs/{run.pk}/mark"))
        assert "Whatever its worker still does for it is not recorded" in asked.text
        visitor.post(f"/runs/{run.pk}/mark", {"as": "failed"})
        with pytest.raises(claims.LeaseLost):
            world.finish(started, "daily")
        assert Partition.objects.get().state == "failed"

    @pytest.mark.parametrize("state", ["failed", "queued", ""])
    def test_marks_as_nothing_that_was_not_offered(self, visitor, run, state):
        claims.fail(world.start(run), "boom", at=NOW)
        answer = visitor.post(f"/runs/{run.pk}/mark", {"as": state})
        assert answer.status_code == 409
        assert "say how it ended" in read(answer).text
        assert not JournalEntry.objects.filter(event="run marked").exists()
