"""The page of a backfill's plan: what would run and what not, and the start of what was shown."""

import pytest
from django.utils import timezone

from core.models import Backfill, DagRun, JournalEntry
from partitions_site import roles
from scheduling.algebra import specs
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.partitions import StaticPartitions
from scheduling.algebra.time_shorthands import DailyPartitions
from tests.backfills import play
from tests.backfills.play import begin, execute, listener, producer, turn
from tests.engine.world import IDENTITY, asset, emit
from tests.web.planned import TEN, plan_of, send
from tests.web.reading import read

pytestmark = pytest.mark.django_db


class TestPlan:
    def test_says_of_every_key_whether_it_runs_and_why_not(self, visitor, load):
        page = plan_of(visitor)
        assert "8 to run, 2 skipped" in page.text
        rows = [row.text for row in page.all("tr")]
        assert "2026-03-01 will run" in rows
        assert "2026-03-02 skipped: it has data" in rows
        assert len(rows) == 1 + 10
        assert "2 skipped: it has data" in page.text

    def test_writes_nothing(self, visitor, load):
        plan_of(visitor)
        assert not Backfill.objects.exists()
        assert not JournalEntry.objects.filter(event="backfill started").exists()

    def test_everything_also_runs_what_has_data(self, visitor, load):
        assert "10 to run" in plan_of(visitor, run="all").text

    def test_where_all_have_data_it_offers_to_run_everything(self, visitor, load):
        page = plan_of(visitor, selection="2026-03-02, 2026-03-05", at_once="3")
        assert "all 2 keys are left out (2: it has data). Run everything, also what has data" in page.text
        again = read(visitor.get(page.links["Run everything, also what has data"]))
        assert "2 to run" in again.text
        assert (again.fields["run"], again.fields["at_once"]) == ("all", "3")
        assert "Run everything" not in plan_of(visitor).text

    def test_failed_keys_run_again_unless_only_missing_ones_are_asked_for(self, visitor, load):
        begin(load, keys=("2026-03-01",))
        turn()
        execute(fail=["2026-03-01"])
        turn()
        assert "8 to run, 2 skipped" in plan_of(visitor).text
        assert "7 to run, 3 skipped" in plan_of(visitor, run="missing").text
        assert "1 to run" in plan_of(visitor, run="failed").text

    def test_newest_first_turns_the_keys_round(self, visitor, load):
        rows = [row.text for row in plan_of(visitor, order="newest").all("tr")]
        assert rows[1] == "2026-03-10 will run"

    def test_only_what_runs_or_what_does_not_can_be_shown(self, visitor, load):
        shown = plan_of(visitor, show="skipped").all("tr")
        assert [row.text.partition(" ")[0] for row in shown[1:]] == ["2026-03-02", "2026-03-05"]
        assert len(plan_of(visitor, show="run").all("tr")) == 1 + 8

    def test_a_wrong_selection_is_pointed_at(self, visitor, load):
        response = visitor.get("/backfills/new", {"dag": "load", "selection": "2026-03-01, [2026-03-04"})
        page = read(response)
        assert "Expected ... between the two ends of a range (character 24 of" in page.text
        assert "2026-03-01, [2026-03-04\n                       ^" in response.content.decode()
        assert "Start backfill" not in page.text

    def test_a_key_that_cannot_be_is_refused_in_words(self, visitor, load):
        text = plan_of(visitor, selection="10.3.2026").text
        assert "10.3.2026" in text
        assert "Start backfill" not in text

    def test_an_asset_leads_to_the_dag_that_writes_it(self, visitor, load):
        page = read(visitor.get("/backfills/new", {"asset": "days", "selection": "2026-03-01"}))
        assert page.fields["dag"] == "load"
        assert "1 to run" in page.text

    def test_an_asset_that_several_dags_write_asks_which(self, visitor, load):
        producer("reload")
        page = read(visitor.get("/backfills/new", {"asset": "days", "selection": "2026-03-01"}))
        assert "Several Dags write days" in page.text
        assert page.links["reload"] == "/backfills/new?dag=reload&selection=2026-03-01&run=undone"

    def test_an_asset_from_outside_says_so(self, visitor):
        asset("weather")
        assert "No Dag writes weather" in read(visitor.get("/backfills/new?asset=weather")).text

    def test_without_a_dag_it_teaches(self, visitor, load):
        assert "A backfill runs one Dag for many keys" in read(visitor.get("/backfills/new")).text

    def test_missing_upstream_is_offered_and_can_be_added(self, visitor, load):
        listener("sum", "days", "sums", IDENTITY)
        page = plan_of(visitor, dag="sum", selection="2026-03-01, 2026-03-02")
        assert "1 to run, 1 skipped" in page.text
        assert "load would make 1 key first" in page.text
        page = read(visitor.get(page.links["Add them to the plan"]))
        assert "3 to run" in page.text
        assert "will run after what it needs" in page.text

    def test_keys_are_never_markup(self, visitor):
        nasty = '<img src=x onerror="alert(1)">'
        definition = MultiPartitions(
            {"shop": StaticPartitions([nasty, "{{7*7}}"]), "day": DailyPartitions("2026-03-01")}
        )
        asset("shops", partitions=specs.dump(definition))
        producer("sell", writes="shops")
        page = plan_of(visitor, dag="sell", selection="", title=nasty)
        assert not page.all("img")
        assert nasty in page.text
        assert "{{7*7}}" in page.text

    def test_a_viewer_may_look_but_not_start(self, visitor_of, load):
        viewer = visitor_of(roles.VIEWER)
        page = plan_of(viewer)
        assert "Starting takes the right to start backfills (core.add_backfill)" in page.text
        assert send(viewer, page).status_code == 403
        assert not Backfill.objects.exists()

    def test_the_plan_alone_is_a_part(self, visitor, load):
        part = read(visitor.part(f"/backfills/new?dag=load&selection={TEN}", "plan"))
        assert part.elements[0].attributes["id"] == "plan"


class TestStart:
    def test_starts_what_was_shown_and_says_who_did(self, visitor, load):
        response = send(visitor, plan_of(visitor, title="March"))
        made = Backfill.objects.get()
        assert response.url == f"/backfills/{made.pk}"
        assert (made.title, made.created_by, made.words) == ("March", roles.OPERATOR, TEN)
        assert play.counts(made) == {"planned": 10, "open": 8, "skipped": 2}
        entry = JournalEntry.objects.get(event="backfill started")
        assert (entry.by, entry.via) == (roles.OPERATOR, "web")

    def test_the_same_form_twice_makes_one_backfill(self, visitor, load):
        page = plan_of(visitor)
        first, second = send(visitor, page), send(visitor, page)
        assert first.url == second.url
        assert Backfill.objects.count() == 1

    def test_another_form_of_the_same_keys_is_not_taken_for_the_first(self, visitor, load):
        page = plan_of(visitor)
        send(visitor, page)
        page = plan_of(visitor)
        assert "to run" in page.text
        assert send(visitor, page).status_code == 409
        assert Backfill.objects.count() == 1

    def test_a_plan_whose_world_has_changed_is_refused_with_what_changed(self, visitor, load):
        page = plan_of(visitor)
        emit("days", "2026-03-07", at=timezone.now())
        response = send(visitor, page)
        assert response.status_code == 409
        again = read(response)
        assert "Nothing was started" in again.text
        assert "8 partitions would have run, now 7" in again.text
        assert "7 to run, 3 skipped" in again.text
        assert not Backfill.objects.exists()
        send(visitor, again)
        assert play.counts(Backfill.objects.get())["open"] == 7

    def test_a_limit_that_is_no_number_is_the_usual_one(self, visitor, load):
        send(visitor, plan_of(visitor, at_once="many"))
        assert Backfill.objects.get().max_active_runs == 10

    def test_choices_are_kept(self, visitor, load):
        page = plan_of(visitor, at_once="3", order="newest", chained="yes", run="all")
        send(visitor, page)
        made = Backfill.objects.get()
        assert (made.max_active_runs, made.order, made.is_chained) == (3, "newest", True)
        assert made.reprocess == "completed"

    def test_a_dag_that_takes_ranges_may_take_all_in_one_run(self, visitor):
        producer("load", max_keys_per_run=None)
        page = plan_of(visitor, per_run="all")
        send(visitor, page)
        turn(timezone.now())
        assert [len(run.keys) for run in DagRun.objects.all()] == [10]

    def test_a_dag_that_does_not_is_not_asked_for_it(self, visitor, load):
        assert "Keys per run" not in plan_of(visitor).text

    def test_wants_a_token_of_the_form(self, visitor, load):
        visitor.handler.enforce_csrf_checks = True
        assert send(visitor, plan_of(visitor), csrfmiddlewaretoken="").status_code == 403
        assert not Backfill.objects.exists()
