"""The list of runs, and the page of one: what it was for, what it said, what it wrote."""

from datetime import UTC, datetime, timedelta

import pytest

from core.models import DagRun, DefinitionSource, JournalEntry, LogLine
from scheduling import claims, corrections, retries, runs
from scheduling.authoring.attempts import Attempts
from scheduling.journal import WORKER_LOST
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, MINUTE, NOW, consumer, emit, hours, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db


def test_one_that_waits_for_its_file_says_so(visitor, run):
    why = "shop.py, line 2 cannot be loaded: SyntaxError: invalid syntax"
    run.dag.source = DefinitionSource.objects.create(
        name="shop.py", loaded_at=NOW, unloadable_until=NOW, unloadable_why=why
    )
    run.dag.save()
    for address in (f"/runs/{run.pk}", "/definitions", "/"):
        assert why in read(visitor.get(address)).text
    assert "the run waits for its definition" in read(visitor.get(f"/runs/{run.pk}")).text


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"is_paused": True}, "nightly is paused: its runs wait until somebody unpauses it."),
        ({"is_active": False}, "No file defines nightly any more: nothing of it runs."),
    ],
)
def test_one_says_what_keeps_it_first(visitor, run, fields, why):
    """Whole or not, its file is not what it waits for."""
    run.dag.source = DefinitionSource.objects.create(
        name="shop.py", loaded_at=NOW, unloadable_until=NOW, unloadable_why="shop.py cannot be loaded"
    )
    for name, value in fields.items():
        setattr(run.dag, name, value)
    run.dag.save()
    text = read(visitor.get(f"/runs/{run.pk}")).text
    assert why in text
    assert "waits for its definition" not in text
    assert "waits for a worker" not in text


def write(run, *texts, attempt=1, task="load"):
    LogLine.objects.bulk_create(
        [LogLine(run=run, attempt=attempt, task_id=task, at=NOW, text=text) for text in texts]
    )


class TestList:
    def test_links_each_run_and_its_dag(self, visitor, run):
        links = read(visitor.get("/runs")).links
        assert links["2026-03-09"] == f"/runs/{run.pk}"
        assert links["nightly"] == "/dags/nightly"

    def test_one_without_a_key_is_told_by_its_note(self, visitor, run):
        runs.trigger(run.dag, Ask(note="all of March"), deed=ALICE, at=NOW)
        runs.trigger(run.dag, Ask("2026-03-10", note="the tenth"), deed=ALICE, at=NOW)
        text = read(visitor.get("/runs")).text
        assert "no key all of March" in text
        assert "the tenth" not in text

    @pytest.mark.parametrize("query", ["state=failed", "dag=other", "type=scheduled", "key=nothing", "run=x"])
    def test_is_narrowed_and_says_so_when_nothing_is_left(self, visitor, run, query):
        page = read(visitor.get(f"/runs?{query}"))
        assert "No run matches" in page.text
        assert page.links["Show all runs"] == "/runs"

    def test_is_narrowed_to_a_day_of_the_site(self, visitor, run, settings):
        settings.TIME_ZONE = "Pacific/Auckland"  # half past nine in the evening there
        DagRun.objects.update(run_after=datetime(2026, 3, 10, 11, 30, tzinfo=UTC))
        assert "2026-03-09" not in read(visitor.get("/runs?day=2026-03-10")).links
        page = read(visitor.get("/runs?day=2026-03-11"))
        assert "2026-03-09" in page.links
        assert page.fields["day"] == "2026-03-11"

    @pytest.mark.parametrize("day", ["", "yesterday", "2026-02-30", "0001-01-01", "9999-12-31"])
    def test_a_day_that_is_none_narrows_nothing(self, visitor, run, day):
        assert "2026-03-09" in read(visitor.get(f"/runs?day={day}")).links

    def test_an_empty_list_teaches(self, visitor):
        assert "A run is one execution of a Dag" in read(visitor.get("/runs")).text

    def test_older_runs_are_a_page_away(self, visitor, run):
        for number in range(60):
            runs.trigger(run.dag, Ask(f"{number:03}"), deed=ALICE, at=NOW)
        page = read(visitor.get("/runs"))
        assert "2026-03-09" not in page.links
        assert "2026-03-09" in read(visitor.get("/runs" + page.links["Older"])).links


class TestRun:
    def test_leads_to_its_partition_of_each_asset_that_it_writes(self, visitor, run):
        world.Outlet.objects.create(dag=run.dag, asset=world.asset("copies"), task_id="copy")
        page = read(visitor.get(f"/runs/{run.pk}"))
        assert "partition of copies" in page.text
        for name in ("copies", "daily"):
            assert page.links[name] == f"/assets/{name}?key=2026-03-09"
        DagRun.objects.update(partition_key=None)
        assert "partition of" not in read(visitor.get(f"/runs/{run.pk}")).text

    def test_tells_who_asked_for_it_and_with_what(self, visitor, run):
        text = read(visitor.get(f"/runs/{run.pk}")).text
        assert "manual by alice" in text
        assert '{"city": "Žalec"}' in text

    def test_one_for_a_range_tells_its_keys_and_which_of_them_failed(self, visitor, run):
        keys = ["2026-03-08", "2026-03-09", "2026-03-10"]
        gave_up = {"2026-03-09": "Traceback:\nOSError: disk full"}
        DagRun.objects.update(partition_key=None, partition_keys=keys, failed_keys=gave_up)
        page = read(visitor.get(f"/runs/{run.pk}"))
        assert page.all("h1")[0].text == "3 keys, 2026-03-08 to 2026-03-10"
        assert "1 key failed, the others are done" in page.text
        assert "OSError: disk full" in page.text
        assert "3 keys, 2026-03-08 to 2026-03-10" in read(visitor.get("/runs")).links

    def test_shows_its_log_by_attempt_and_task(self, visitor, run):
        write(run, "first", "second")
        write(run, "again", attempt=2)
        page = read(visitor.get(f"/runs/{run.pk}"))
        assert [each.text for each in page.all("li", class_="part")] == ["task load", "task load"]
        [log] = page.all("ol", class_="log")
        assert [word in log.text for word in ("first", "second", "again")] == [True] * 3

    def test_each_attempt_has_a_head_with_when_it_began_and_how_it_ended(self, visitor, run):
        world.start(run)
        write(run, "one")
        retries.fail(DagRun.objects.get(), "no disk", at=NOW, attempts=Attempts(1, MINUTE))
        world.start(run, at=NOW + 2 * MINUTE)
        write(run, "two", attempt=2)
        claims.fail(DagRun.objects.get(), "no disk", at=NOW + 2 * MINUTE)
        corrections.retry(DagRun.objects.get(), deed=ALICE, at=NOW + 3 * MINUTE)
        world.start(run, at=NOW + 4 * MINUTE)
        write(run, "three", attempt=3)
        began = f"{NOW:%Y-%m-%d %H:%M:%S} UTC"
        heads = [f"Attempt 1 failed {began}", f"Attempt 2 failed {began}", f"Attempt 3 running {began}"]
        for address in (f"/runs/{run.pk}", "/assets/daily?key=2026-03-09"):
            page = read(visitor.get(address))
            assert [each.text for each in page.all("li", class_="attempt")] == heads

    def test_an_attempt_of_a_run_of_that_name_that_was_deleted_is_not_its(self, visitor, run):
        said = {"event": WORKER_LOST, "dag_id": run.dag.dag_id, "run_id": run.run_id, "by": "engine"}
        JournalEntry.objects.create(at=NOW - 24 * 60 * MINUTE, extra={"attempt": 1}, **said)
        DagRun.objects.update(attempt=1)
        write(run, "one")
        write(run, "two", attempt=2)
        world.start(run)
        heads = [each.text for each in read(visitor.get(f"/runs/{run.pk}")).all("li", class_="attempt")]
        assert heads[0] == f"Attempt 1 {NOW:%Y-%m-%d %H:%M:%S} UTC"
        JournalEntry.objects.create(at=NOW, extra={"attempt": 1}, **said)
        heads = [each.text for each in read(visitor.get(f"/runs/{run.pk}")).all("li", class_="attempt")]
        assert heads[0] == f"Attempt 1 its worker was lost {NOW:%Y-%m-%d %H:%M:%S} UTC"

    def test_a_log_is_text_whatever_it_holds(self, visitor, run):
        write(run, "<img src=x onerror=alert(1)>", "{{ 7*7 }}", "javascript:alert(1)")
        page = read(visitor.get(f"/runs/{run.pk}"))
        assert page.all("img") == []
        assert "<img src=x onerror=alert(1)>" in page.text
        assert "{{ 7*7 }}" in page.text

    def test_of_a_long_log_the_end_is_shown(self, visitor, run):
        write(run, *(f"line {number}." for number in range(700)))
        page = read(visitor.get(f"/runs/{run.pk}"))
        assert "line 699." in page.text
        assert "line 199." not in page.text
        whole = read(visitor.get(f"/runs/{run.pk}" + page.links["Show it from the start"]))
        assert "line 0." in whole.text

    def test_is_polled_until_it_has_ended(self, visitor, run):
        assert read(visitor.part(f"/runs/{run.pk}", "now")).elements[0].attributes["data-live"] == "2"
        world.finish(world.start(run), "daily")
        assert "data-live" not in read(visitor.part(f"/runs/{run.pk}", "now")).elements[0].attributes

    def test_says_what_it_wrote(self, visitor, run):
        world.finish(world.start(run), "daily", keys=["2026-03-08", "2026-03-09"])
        page = read(visitor.get(f"/runs/{run.pk}"))
        assert "2 partitions" in page.text
        assert page.links["2026-03-08"] == "/assets/daily?key=2026-03-08"

    def test_says_what_it_was_made_from(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-09", *range(24)))
        turn()
        made = DagRun.objects.get()
        page = read(visitor.get(f"/runs/{made.pk}"))
        assert "24 keys: 00–23" in page.text
        assert page.links["its held run"] == f"/held/{made.held_runs.get().pk}"

    def test_a_failed_one_says_why_in_one_line_and_all_in_its_log(self, visitor, run):
        started = world.start(run)
        write(started, "Traceback (most recent call last):", "LookupError: no such city", task="")
        claims.fail(started, "Traceback (most recent call last):\nLookupError: no such city", at=NOW)
        page = read(visitor.get(f"/runs/{run.pk}"))
        assert page.all("b")[0].text == "LookupError: no such city"
        assert page.text.count("Traceback") == 1
        assert not page.all("li", class_="part")
        assert "a run that does not succeed emits no event" in page.text

    def test_one_that_is_tried_again_says_when(self, visitor, run):
        run.dag.retries, run.dag.retry_delay = 2, timedelta(minutes=20)
        run.dag.save()
        retries.fail(world.start(run), "boom", at=NOW)
        text = read(visitor.get(f"/runs/{run.pk}")).text
        assert "1 attempt" in text
        assert "boom" in text
        assert "Tried again" in text
        assert "09:30" in text

    def test_one_that_died_without_a_log_shows_all_it_has(self, visitor, run):
        claims.fail(world.start(run), "Traceback:\n  deep down\nOSError: gone", at=NOW)
        assert "deep down" in read(visitor.get(f"/runs/{run.pk}")).text
