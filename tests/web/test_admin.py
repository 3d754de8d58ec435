"""Django's admin: it edits users, groups, pools and schedules, and never saves a record around the engine."""

import json

import pytest
from django.apps import apps
from django.contrib import admin as site
from django.contrib.auth.models import Group, User
from django.db import connection
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from core.models import Asset, Dag, HeldRun, JournalEntry, LogLine, Pool, ScheduleOverride
from partitions_site import records_admin, roles
from scheduling import runs
from tests.configuration.changing import change
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY
from tests.sdk.writing import Directory, dag

pytestmark = pytest.mark.django_db
RECORDS = [
    model
    for model in apps.get_app_config("core").get_models()
    if model not in (Pool, Dag, *records_admin.INNER)
]
DAY = {"default_mapper": HOURS_TO_DAY}


@pytest.fixture
def staff(visitor_of):
    """Somebody of the role admin who may come in here."""
    visitor = visitor_of(roles.ADMIN)
    User.objects.update(is_staff=True)
    return visitor


@pytest.fixture
def row(tmp_path) -> Dag:
    directory = Directory(tmp_path)
    directory.write(
        "c",
        """
        DAG("c", schedule=PartitionedAssetTimetable(assets=Asset("a") & Asset("b")))
        DAG("tick", schedule=CronPartitionTimetable("0 0 * * *"))
        """,
    )
    assert directory.sync().ok
    world.emit("a", "k")
    world.turn()
    return dag("c")


def address(model: type[Model], *ending: object) -> str:
    return "/".join(["/admin", model._meta.app_label, model._meta.model_name, *map(str, ending), ""])


def asked(row: Dag, **fields: object) -> dict[str, object]:
    row.refresh_from_db()
    spec = {name: value for name, value in (row.schedule | fields).items() if value is not None}
    return {"schedule": json.dumps(spec), "revision": row.revision, "reason": "Sundays"}


class TestTheDoor:
    def test_whoever_is_no_staff_is_told_so_and_not_sent_round(self, visitor_of):
        answer = visitor_of(roles.ADMIN).get("/admin/", follow=True)
        assert [where for where, _ in answer.redirect_chain] == ["/admin/login/?next=/admin/"]
        assert answer.status_code == 403
        assert "has no staff status, which Administration asks for" in answer.content.decode()

    def test_staff_comes_in(self, staff):
        assert staff.get("/admin/").status_code == 200
        assert staff.get("/admin/login/?next=/admin/")["Location"] == "/admin/"


class TestRecords:
    @pytest.mark.parametrize("model", RECORDS, ids=lambda each: each._meta.model_name)
    def test_are_listed_and_not_written(self, staff, row, model):
        assert staff.get(address(model)).status_code == 200
        assert staff.get(address(model, "add")).status_code == 403
        assert staff.post(address(model, "add"), {"name": "x"}).status_code == 403
        first = model._default_manager.order_by("pk").first()
        if first is None:
            return
        assert staff.get(address(model, first.pk, "change")).status_code == 200
        before = model._default_manager.filter(pk=first.pk).values().get()
        assert staff.post(address(model, first.pk, "change"), {"name": "x"}).status_code == 403
        assert staff.post(address(model, first.pk, "delete"), {"post": "yes"}).status_code == 403
        assert model._default_manager.filter(pk=first.pk).values().get() == before

    def test_have_no_action_that_takes_many_away(self, staff, row):
        everything = {"action": "delete_selected", "_selected_action": [1, 2, 3], "post": "yes"}
        held = HeldRun.objects.count()
        for model in (*RECORDS, Dag, Pool):
            staff.post(address(model), everything)
        assert (HeldRun.objects.count(), Dag.objects.count()) == (held, 2)

    def test_what_only_the_engine_reads_is_not_here(self, staff):
        listed = staff.get("/admin/").content.decode()
        assert "Held runs" in listed
        for words in ("Bells", "Pulses", "Drawings", "Drawn blocks", "Run counts", "Failed attempts"):
            assert words not in listed

    def test_tell_what_they_belong_to_by_name(self, staff, row):
        run = runs.trigger(dag("c"), runs.Ask("k"), deed=world.ALICE, at=world.NOW)
        LogLine.objects.create(run=run, attempt=1, at=world.NOW, text="begun")
        with CaptureQueriesContext(connection) as one:
            page = staff.get(address(LogLine)).content.decode()
        assert f"c {run.run_id}" in page
        assert f"{run.dag_id}/{run.run_id}" not in page
        LogLine.objects.create(run=run, attempt=1, at=world.NOW, text="ended")
        with CaptureQueriesContext(connection) as two:
            staff.get(address(LogLine))
        assert len(one) == len(two)

    def test_are_all_here(self):
        assert {model for model in site.site._registry if model._meta.app_label == "core"} == {
            *RECORDS,
            Pool,
            Dag,
        }

    def test_are_not_saved_even_by_a_superuser(self, staff, row):
        User.objects.update(is_superuser=True)
        asset = Asset.objects.get(name="a")
        assert staff.post(address(Asset, asset.pk, "change"), {"name": "z"}).status_code == 403
        assert staff.post(address(Asset, asset.pk, "delete"), {"post": "yes"}).status_code == 403


class TestSchedule:
    def test_is_changed_as_everywhere(self, staff, row):
        body = asked(row, assets={"any": [{"asset": "a"}, {"asset": "b"}]})
        assert staff.post(address(Dag, row.pk, "change"), body).status_code == 302
        row.refresh_from_db()
        assert row.schedule["assets"] == {"any": [{"asset": "a"}, {"asset": "b"}]}
        assert (row.override.by, row.override.via, row.override.reason) == ("admin", "admin", "Sundays")
        entry = JournalEntry.objects.get(event="schedule changed")
        assert (entry.by, entry.via, entry.extra["now"]) == ("admin", "admin", row.schedule)
        assert HeldRun.objects.held().get().judge_after is not None

    def test_that_cannot_be_is_refused_with_its_path(self, staff, row):
        body = asked(row, default_mapper={"type": "StartOfDayMapper", "timezone": "Mars"})
        page = staff.post(address(Dag, row.pk, "change"), body)
        assert page.status_code == 200
        assert "default_mapper.timezone: " in page.content.decode()
        assert "Sundays" in page.content.decode()
        assert ScheduleOverride.objects.count() == 0

    def test_needs_a_reason(self, staff, row):
        page = staff.post(address(Dag, row.pk, "change"), asked(row, **DAY) | {"reason": " "})
        assert "the reason is kept in the journal" in page.content.decode()
        assert ScheduleOverride.objects.count() == 0

    def test_that_somebody_changed_meanwhile_is_refused(self, staff, row):
        body = asked(row, **DAY)
        change(row, late="hold")
        page = staff.post(address(Dag, row.pk, "change"), body)
        assert page.status_code == 200
        assert "bob changed late: not set" in page.content.decode()
        row.refresh_from_db()
        assert row.schedule["late"] == "hold"

    def test_is_all_of_a_dag_that_is_written(self, staff, row):
        body = asked(row, **DAY) | {
            "dag_id": "other",
            "is_paused": "on",
            "max_active_runs": 99,
            "problems": "[]",
        }
        staff.post(address(Dag, row.pk, "change"), body)
        row.refresh_from_db()
        assert (row.dag_id, row.is_paused, row.max_active_runs) == ("c", False, 16)
        assert row.schedule["default_mapper"]["type"] == "RollupMapper"

    def test_leads_to_the_form_with_a_preview(self, staff, row):
        page = staff.get(address(Dag, row.pk, "change")).content.decode()
        assert 'href="/listening?dag=c"' in page
        assert 'name="schedule"' in page

    def test_is_shown_without_a_look_at_every_other_dag(self, staff, row):
        """Whether it may be changed is asked many times for one page."""
        with CaptureQueriesContext(connection) as found:
            assert staff.get(address(Dag, row.pk, "change")).status_code == 200
        asked = [each["sql"] for each in found]
        assert not [sql for sql in asked if "core_outlet" in sql or "core_dependency" in sql]

    def test_of_a_cadence_is_only_looked_at(self, staff, row):
        tick = dag("tick")
        page = staff.get(address(Dag, tick.pk, "change")).content.decode()
        assert 'name="schedule"' not in page
        body = {"schedule": "{}", "revision": tick.revision, "reason": "x"}
        assert staff.post(address(Dag, tick.pk, "change"), body).status_code == 403

    def test_is_not_for_editors(self, visitor_of, row):
        visitor = visitor_of(roles.EDITOR)
        User.objects.update(is_staff=True)
        assert visitor.get(address(Dag, row.pk, "change")).status_code == 200
        assert visitor.post(address(Dag, row.pk, "change"), asked(row, **DAY)).status_code == 403


class TestPools:
    def test_are_made_changed_and_taken_away_as_over_the_api(self, staff):
        staff.post(address(Pool, "add"), {"name": "sftp", "slots": 4, "description": "logins"})
        pool = Pool.objects.get()
        staff.post(address(Pool, pool.pk, "change"), {"slots": 2, "description": "logins"})
        pool.refresh_from_db()
        assert (pool.name, pool.slots) == ("sftp", 2)
        staff.post(address(Pool, pool.pk, "delete"), {"post": "yes"})
        assert Pool.objects.count() == 0
        found = JournalEntry.objects.order_by("pk").values_list("event", "via")
        assert list(found) == [("pool made", "admin"), ("pool changed", "admin"), ("pool deleted", "admin")]

    def test_that_are_in_use_stay(self, staff, row):
        pool = Pool.objects.create(name="sftp", slots=1, created_at=world.NOW, updated_at=world.NOW)
        Dag.objects.filter(pk=row.pk).update(pool=pool)
        page = staff.post(address(Pool, pool.pk, "delete"), {"post": "yes"}, follow=True)
        assert Pool.objects.count() == 1
        assert page.status_code == 200

    def test_that_cannot_be_are_refused_with_the_sentence(self, staff):
        page = staff.post(address(Pool, "add"), {"name": "x" * 10, "slots": 2_000_000}, follow=True)
        assert Pool.objects.count() == 0
        assert "slots" in page.content.decode()


class TestPeople:
    def test_are_edited(self, staff):
        body = {"username": "eve", "password1": "a-long-Secret-9", "password2": "a-long-Secret-9"}
        staff.post("/admin/auth/user/add/", body | {"usable_password": "true"})
        assert User.objects.filter(username="eve").exists()
        assert staff.get(f"/admin/auth/group/{Group.objects.first().pk}/change/").status_code == 200

    def test_who_are_not_staff_do_not_come_in(self, visitor_of):
        assert visitor_of(roles.ADMIN).get("/admin/").status_code == 302
