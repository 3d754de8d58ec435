"""The pages that only tell: definitions, journal, health."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.models import DefinitionSource, HeldRun, Pulse
from partitions_site import roles
from scheduling import health, journal, runs
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, asset, consumer, emit
from tests.web.reading import read

pytestmark = pytest.mark.django_db


class TestDefinitions:
    def test_a_broken_file_comes_first_with_its_line_and_traceback(self, visitor):
        DefinitionSource.objects.create(name="fine.py", loaded_at=NOW)
        DefinitionSource.objects.create(
            name="shop.py",
            error="NameError: name 'sale' is not defined",
            error_line=4,
            traceback='File "shop.py", line 4, in <module>',
            loaded_at=NOW,
        )
        page = read(visitor.get("/definitions"))
        assert page.all("h2")[0].text == "shop.py, line 4"
        assert "NameError: name 'sale' is not defined" in page.text
        assert 'File "shop.py", line 4, in <module>' in page.all("pre")[0].text
        assert page.text.index("shop.py, line 4") < page.text.index("fine.py")

    def test_says_what_becomes_of_what_it_defined_before(self, visitor):
        source = DefinitionSource.objects.create(name="shop.py", error="boom", loaded_at=NOW)
        world.dag("one", source=source)
        assert "Its 1 Dag from before" in read(visitor.get("/definitions")).text

    def test_the_dags_of_a_file_are_one_click_away(self, visitor):
        source = DefinitionSource.objects.create(name="shop.py", loaded_at=NOW)
        world.dag("one", source=source)
        world.dag("other")
        address = read(visitor.get("/definitions")).links["1"]
        listed = read(visitor.get(address))
        assert "one" in listed.links
        assert "other" not in listed.links
        assert "other" in read(visitor.get("/dags" + listed.links["of shop.py ×"])).links

    def test_problems_of_dags_are_listed_with_their_level(self, visitor):
        problems = [{"code": "x", "level": level, "sentence": f"a {level}"} for level in ("error", "warning")]
        world.dag("nightly", problems=problems)
        page = read(visitor.get("/definitions"))
        assert "error nightly a error" in page.text
        assert "warning nightly a warning" in page.text

    def test_an_installation_without_files_is_told_how_to_name_one(self, visitor):
        assert "PARTITA_DEFINITIONS" in read(visitor.get("/definitions")).text

    def test_an_error_is_text_whatever_it_holds(self, visitor):
        DefinitionSource.objects.create(
            name="<script>", error="<img src=x onerror=alert(1)>", traceback="{{ 7*7 }}", loaded_at=NOW
        )
        page = read(visitor.get("/definitions"))
        assert page.all("img") == []
        assert "{{ 7*7 }}" in page.text


class TestJournal:
    @pytest.mark.parametrize(("count", "more"), [(2, ""), (6, ""), (7, " and 1 more"), (9, " and 3 more")])
    def test_names_six_assets_that_share_partitions_and_counts_the_others(self, visitor, count, more):
        names = [f"asset{number}" for number in range(count)]
        for name in names:
            asset(name)
        journal.note("partition keys added", deed=ALICE, at=NOW, partitions="stores", assets=names)
        page = read(visitor.get("/journal"))
        assert [name for name in names if name in page.links] == names[:6]
        [about] = [each.text for each in page.elements if each.attributes.get("data-label") == "About"]
        assert about == ", ".join(names[:6]).replace(",", " ,") + more

    def test_tells_who_did_what_to_what_and_why(self, visitor):
        made = world.dag("nightly")
        journal.note("dag paused", deed=journal.Deed("bob", "cli", "holidays"), at=NOW, about=made, days=3)
        page = read(visitor.get("/journal"))
        assert "holidays" in page.text
        assert "days: 3" in page.text
        assert page.links["nightly"] == "/dags/nightly"
        assert page.links["bob"] == "?by=bob"
        assert page.links["dag paused"] == "?event=dag+paused"

    def test_a_partition_is_linked(self, visitor):
        emit("daily", "2026-03-09")
        links = read(visitor.get("/journal")).links
        assert links["2026-03-09"] == "/assets/daily?key=2026-03-09"

    def test_a_key_of_a_dag_leads_to_what_is_known_of_it(self, visitor):
        by_key = world.dag("report", {"type": "PartitionedAtRuntime"})
        runs.trigger(by_key, Ask("2026-03-09"), deed=ALICE, at=NOW)
        links = read(visitor.get("/journal")).links
        assert links["2026-03-09"] == "/dags/report?why=2026-03-09#why"

    def test_a_run_is_linked(self, visitor):
        run = runs.trigger(world.dag("report"), Ask(), deed=ALICE, at=NOW)
        address = read(visitor.get("/journal")).links["its run"]
        assert read(visitor.get(address)).links["no key"] == f"/runs/{run.pk}"

    def test_what_is_false_or_empty_is_not_told(self, visitor):
        journal.note("run triggered", deed=ALICE, at=NOW, settled_held_run=False, note="")
        assert "settled" not in read(visitor.get("/journal")).text

    def test_a_change_of_a_schedule_is_told_by_what_differs(self, visitor):
        was, now = HOURS_TO_DAY | {"note": "x" * 300}, HOURS_TO_DAY | {"note": "x" * 300}
        now = now | {"wait_policy": {"type": "MinimumCount", "n": 23}}
        changed = ["is_partitioned", "max_active_runs", "schedule"]
        journal.note(
            "dag changed", at=NOW, about=world.dag("sum"), was=was, now=now, changed=changed, revision=2
        )
        told = read(visitor.get("/journal")).text
        assert "wait_policy: not set → MinimumCount(n=23)" in told
        assert "changed: max active runs, schedule." in told
        assert "was:" not in told
        assert "is_partitioned" not in told

    def test_a_change_of_its_kind_is_told_by_when_it_runs(self, visitor):
        was = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
        now = {"type": "PartitionedAssetTimetable", "assets": {"asset": "sales"}}
        journal.note("schedule overridden", at=NOW, about=world.dag("sum"), was=was, now=now, revision=2)
        told = read(visitor.get("/journal")).text
        assert "runs: every hour (UTC) → when a partition of sales has arrived" in told

    def test_numbers_by_name_are_no_code(self, visitor):
        told = {"partitions": {"ingest": 192, "sum": 8}, "options": [{"all": False}]}
        journal.note("backfill started", deed=ALICE, at=NOW, **told)
        page = read(visitor.get("/journal")).text
        assert "partitions: ingest 192, sum 8." in page
        assert "options: all no." in page

    def test_the_engine_is_named_once_and_a_request_as_such(self, visitor):
        journal.note("dag changed", at=NOW, about=world.dag("sum"))
        journal.note("dag paused", deed=journal.Deed("bob", "web", request_id="f00d"), at=NOW)
        page = read(visitor.get("/journal"))
        assert "engine engine" not in page.text
        assert "bob web" in page.text
        assert "in request f00d" in page.text
        assert page.links["f00d"] == "?request=f00d"

    def test_filters_can_be_taken_back(self, visitor):
        journal.note("dag paused", deed=ALICE, at=NOW, about=world.dag("nightly"))
        page = read(visitor.get("/journal?dag=nightly&event=dag+paused"))
        assert page.links["dag paused ×"] == "?dag=nightly"
        assert "No entry matches" in read(visitor.get("/journal?by=nobody")).text

    def test_is_narrowed_to_a_day_and_a_dag(self, visitor):
        journal.note("dag paused", deed=ALICE, at=NOW, about=world.dag("nightly"))
        day = f"{NOW:%Y-%m-%d}"
        page = read(visitor.get(f"/journal?dag=nightly&day={day}"))
        assert "dag paused" in page.links
        assert page.fields["day"] == day
        assert [each.words[0] for each in page.all("option", selected="")] == ["nightly"]
        for other in (f"/journal?dag=weekly&day={day}", "/journal?dag=nightly&day=2026-03-10"):
            assert "No entry matches" in read(visitor.get(other)).text
        assert "dag paused" in read(visitor.get("/journal?day=soon")).links
        [chosen] = read(visitor.get("/journal?dag=gone")).all("option", selected="")
        assert chosen.words[0] == "gone"

    def test_an_empty_journal_says_what_it_will_hold(self, visitor):
        assert "Every deed of a person" in read(visitor.get("/journal")).text


class TestHealth:
    def test_tells_what_is_alive(self, visitor):
        for kind in Pulse.Kind:
            health.pulse(f"{kind} at home", kind, now=timezone.now())
        page = read(visitor.get("/health"))
        assert page.links["Engine running"] == "/health"
        assert "worker at home" in page.text

    def test_tells_what_is_silent_and_since_when(self, visitor):
        health.pulse("beat", Pulse.Kind.BEAT, now=timezone.now() - timedelta(minutes=10))
        page = read(visitor.get("/health"))
        assert "beat silent for 10 minutes; workers look for work" in " ".join(page.text.split())
        assert "Engine needs you" in page.text

    def test_says_what_each_role_may_and_which_of_it_whoever_looks(self, visitor, visitor_of):
        page = read(visitor.get("/health"))
        assert "viewer Looks at everything, and changes nothing. you may" in page.text
        assert "fires and cancels held runs" in page.text
        assert page.text.count("you may") == 2
        assert read(visitor_of(roles.VIEWER).get("/health")).text.count("you may") == 1
        assert read(visitor_of(roles.ADMIN).get("/health")).text.count("you may") == 4
        assert list(roles.WORDS) == list(roles.GRANTS)

    def test_the_dot_alone_can_be_asked_for(self, visitor):
        page = read(visitor.part("/health", "pulse"))
        assert page.elements[0].attributes["data-live"] == "15"
        [alarm] = page.all("span", id="alarm")
        assert alarm.attributes["hx-swap-oob"] == "true"
        assert alarm.text == "Engine needs you"

    def test_the_dot_is_in_the_foot_and_an_alarm_above(self, visitor):
        page = read(visitor.get("/held"))
        assert "Engine needs you" in page.all("footer")[0].text
        assert "Engine needs you" in page.all("header", class_="top")[0].text
        for kind in Pulse.Kind:
            health.pulse(f"{kind} at home", kind, now=timezone.now())
        page = read(visitor.get("/held"))
        assert "Engine running" in page.all("footer")[0].text
        assert "Engine" not in page.all("header", class_="top")[0].text

    def test_tells_events_that_nobody_has_counted(self, visitor):
        consumer("copy", {"daily": world.IDENTITY})
        emit("daily", "2026-03-09", at=timezone.now() - timedelta(minutes=10))
        page = read(visitor.get("/health"))
        assert "1 event not counted yet" in page.text
        assert page.links["1 event"] == "#uncounted"
        [listed] = page.all("section", id="uncounted")
        assert "oldest first" in listed.text
        assert page.links["2026-03-09"] == "/assets/daily?key=2026-03-09"

    def test_what_should_have_been_judged_is_counted_in_a_link_to_its_list(self, visitor, day):
        assert not read(visitor.get("/health")).all("section", id="unjudged")
        HeldRun.objects.update(judge_after=timezone.now() - timedelta(hours=1))
        page = read(visitor.get("/health"))
        assert page.links["1 held run"] == "#unjudged"
        [listed] = page.all("section", id="unjudged")
        assert "2026-03-10" in listed.text
        assert page.links["2026-03-10"] == f"/held/{day.pk}"

    def test_tells_how_many_runs_wait_and_where_they_are(self, visitor):
        runs.trigger(world.dag("report"), Ask(), deed=ALICE, at=NOW)
        links = read(visitor.get("/health")).links
        assert links["1 queued"] == "/runs?state=queued"
        assert links["0 running"] == "/runs?state=running"

    def test_tells_versions_and_the_time_zone_tables(self, visitor):
        text = read(visitor.get("/health")).text
        assert "Time zone data" in text
        assert "Python" in text

    def test_never_seen_processes_are_said_to_be_started(self, visitor):
        assert "No process has ever reported" in read(visitor.get("/health")).text


def test_assets_that_are_gone_keep_their_history(visitor):
    emit("old", "2026-03-09")
    asset("old").__class__.objects.update(is_active=False)
    page = read(visitor.get("/assets/old?key=2026-03-09"))
    assert "not defined any more" in page.text
    assert "materialized" in page.text
    assert "Record an event…" not in page.links
