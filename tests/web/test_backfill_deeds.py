"""What somebody may do with a backfill on its page."""

import pytest
from django.utils import timezone

from core.models import DagRun, JournalEntry
from partitions_site import roles
from tests.backfills import play
from tests.backfills.play import begin
from tests.web.reading import read

pytestmark = pytest.mark.django_db
TEN = "[2026-03-01...2026-03-10]"


@pytest.mark.parametrize("plan", ["0001-01-01T00:00:00+23:59~3~x", f"2026-03-01~{'9' * 5000}~x"])
def test_a_plan_that_never_was_starts_nothing(visitor, load, plan):
    response = visitor.post("/backfills/new", {"dag": "load", "selection": TEN, "plan": plan})
    assert response.status_code == 409
    assert "Nothing was started" in read(response).text


class TestDeeds:
    def test_pauses_and_resumes(self, visitor, load):
        made = begin(load, selection=TEN)
        assert "8 of 10 keys" in read(visitor.get(f"/backfills/{made.pk}/pause")).text
        visitor.post(f"/backfills/{made.pk}/pause", {"reason": "disk is full"})
        made.refresh_from_db()
        assert made.is_paused
        assert JournalEntry.objects.get(event="backfill paused").reason == "disk is full"
        page = read(visitor.get(f"/backfills/{made.pk}"))
        assert "Paused: nothing starts" in page.text
        visitor.post(page.links["Resume…"])
        made.refresh_from_db()
        assert not made.is_paused

    def test_cancels_what_has_not_started(self, visitor, load):
        made = begin(load, selection=TEN)
        visitor.post(f"/backfills/{made.pk}/cancel")
        assert play.counts(made) == {"planned": 10, "skipped": 2, "cancelled": 8}
        assert "cancelled" in read(visitor.get(f"/backfills/{made.pk}")).text

    def test_tries_again_what_failed(self, visitor, load):
        made = begin(load, selection=TEN)
        play.drive(made, fail=["2026-03-03"])
        page = read(visitor.get(f"/backfills/{made.pk}"))
        assert "1 of its keys" in read(visitor.get(page.links["Retry failed…"])).text
        visitor.post(page.links["Retry failed…"])
        assert "Trying again 1 key." in read(visitor.get(f"/backfills/{made.pk}")).text
        play.drive(made, timezone.now())
        assert play.counts(made) == {"planned": 10, "done": 8, "skipped": 2}

    def test_of_a_paused_one_it_says_that_nothing_starts_yet(self, visitor, load):
        made = begin(load, selection=TEN)
        play.turn()
        play.execute(most=1, fail=play.days(1, 10))
        play.turn()
        visitor.post(f"/backfills/{made.pk}/pause")
        asked = read(visitor.get(f"/backfills/{made.pk}/retry")).text
        assert "nothing starts until somebody resumes it" in asked
        visitor.post(f"/backfills/{made.pk}/retry")
        page = read(visitor.get(f"/backfills/{made.pk}")).text
        assert "Trying again 1 key when it is resumed." in page
        assert "Paused: nothing starts" in page

    def test_nothing_to_try_again_is_said(self, visitor, load):
        made = begin(load, selection=TEN)
        assert "Retry failed…" not in read(visitor.get(f"/backfills/{made.pk}")).links
        response = visitor.post(f"/backfills/{made.pk}/retry")
        assert response.status_code == 409
        assert "nothing to run again" in read(response).text

    def test_one_that_is_over_cannot_be_cancelled(self, visitor, load):
        made = begin(load, selection=TEN)
        play.drive(made)
        assert "Cancel…" not in read(visitor.get(f"/backfills/{made.pk}")).links
        answer = visitor.post(f"/backfills/{made.pk}/cancel")
        assert answer.status_code == 409
        assert f"backfill {made.pk} has ended already" in read(answer).text

    @pytest.mark.parametrize("deed", ["pause", "resume", "cancel", "retry"])
    def test_of_one_that_has_ended_there_is_nothing_to_ask(self, visitor, load, deed):
        made = begin(load, selection=TEN)
        play.drive(made)
        for answer in (visitor.get, visitor.post):
            page = read(answer(f"/backfills/{made.pk}/{deed}"))
            assert "This backfill has ended" in page.text
            assert "success: 8 done, 2 skipped" in page.text
            assert "still to do" not in page.text
            assert page.all("button", class_="button main") + page.all("button", class_="button grave") == []

    def test_of_one_that_goes_on_without_failures_there_is_nothing_to_try_again(self, visitor, load):
        made = begin(load, selection=TEN)
        assert "Nothing of it has failed" in read(visitor.get(f"/backfills/{made.pk}/retry")).text

    @pytest.mark.parametrize("deed", ["pause", "resume", "cancel", "retry"])
    def test_a_viewer_may_do_none_of_it(self, visitor_of, load, deed):
        made = begin(load, selection=TEN)
        viewer = visitor_of(roles.VIEWER)
        assert viewer.post(f"/backfills/{made.pk}/{deed}").status_code == 403
        page = read(viewer.get(f"/backfills/{made.pk}"))
        assert "Pause…" not in page.links
        assert "Pause…" in page.text


def test_the_journal_of_a_backfill_has_what_was_done_to_its_runs(visitor, load):
    made = begin(load, selection=TEN)
    play.turn()
    first, second = DagRun.objects.order_by("pk")[:2]
    visitor.post(f"/runs/{first.pk}/cancel", {"reason": "wrong key"})
    visitor.post(f"/runs/{second.pk}/mark", {"as": "failed", "reason": "wrong file"})
    visitor.post(f"/runs/{first.pk}/retry", {"reason": "right key after all"})
    page = read(visitor.get(f"/journal?backfill={made.pk}"))
    for event in ("run cancelled", "run marked", "run retried", "backfill started"):
        assert event in page.links
    assert page.links[f"backfill {made.pk}"] == f"/backfills/{made.pk}"
