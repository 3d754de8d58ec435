"""Small translations between our rows and Airflow's words."""

import uuid
from datetime import UTC, date, datetime, timedelta

import pytest
from django.http import QueryDict
from hypothesis import given
from hypothesis import strategies as st
from rest_framework import exceptions

from core.models import Asset, Dag, DagRun
from partitions_site.api import days, errors, wire
from partitions_site.api.errors import BadRequest, Conflict, Invalid
from partitions_site.api.expressions import asset_expression
from scheduling import events, holds, runs
from scheduling.algebra.errors import InvalidKey, PartitionError
from scheduling.masking import MASK, SECRETS, masked

NOW = datetime(2026, 3, 10, 9, tzinfo=UTC)


def dag(dag_id="d", schedule=None, **fields):
    fields = {"is_partitioned": True, "created_at": NOW, "updated_at": NOW} | fields
    return Dag.objects.create(dag_id=dag_id, schedule=schedule, **fields)


def run(state="queued", run_type="manual", **fields):
    return DagRun(state=state, run_type=run_type, run_id=fields.pop("run_id", "r"), **fields)


class TestRunWords:
    @pytest.mark.parametrize("state", DagRun.State.values)
    def test_every_state_is_one_that_clients_know(self, state):
        assert wire.state(run(state)) in {"queued", "running", "success", "failed"}

    def test_what_was_cancelled_failed_and_what_was_skipped_is_well(self):
        assert (wire.state(run("cancelled")), wire.state(run("skipped"))) == ("failed", "success")

    @pytest.mark.parametrize("state", DagRun.State.values)
    def test_a_run_is_found_by_the_state_it_shows(self, state):
        assert state in wire.RUN_STATES[wire.state(run(state))]

    @pytest.mark.parametrize("run_type", DagRun.Type.values)
    def test_every_type_is_one_that_clients_know(self, run_type):
        assert wire.run_type(run(run_type=run_type)) in wire.RUN_TYPES

    def test_a_manual_run_asked_for_through_its_asset_is_a_materialization(self):
        assert wire.run_type(run(run_id="asset_materialization__x")) == "asset_materialization"
        assert wire.run_type(run("queued", "backfill", run_id="asset_materialization__x")) == "backfill"

    @pytest.mark.django_db
    def test_a_run_is_found_by_the_type_it_shows(self):
        made = dag()
        for number, run_type in enumerate(DagRun.Type.values):
            for prefix in ("", "asset_materialization__"):
                fields = {"queued_at": NOW, "run_after": NOW, "updated_at": NOW}
                DagRun.objects.create(dag=made, run_id=f"{prefix}{number}", run_type=run_type, **fields)
        for each in DagRun.objects.all():
            assert DagRun.objects.filter(wire.of_types([wire.run_type(each)]), pk=each.pk).exists()
        assert sum(DagRun.objects.filter(wire.of_types([name])).count() for name in wire.RUN_TYPES) == 10

    @pytest.mark.parametrize(
        ("stored", "said"), [("rest_api", "rest_api"), ("timetable", "timetable"), ("", None), ("x", None)]
    )
    def test_a_trigger_that_clients_do_not_know_is_not_told(self, stored, said):
        assert wire.triggered_by(run(triggered_by=stored)) == said

    def test_a_run_that_has_not_ended_has_no_duration(self):
        assert wire.duration(run(started_at=NOW)) is None
        assert wire.duration(run(started_at=NOW, ended_at=NOW + timedelta(milliseconds=1500))) == 1.5


class TestVersion:
    def test_is_the_same_for_the_same_revision_everywhere(self):
        first, again, next_one, other = (
            wire.version(Dag(dag_id=dag_id, revision=revision, updated_at=NOW))
            for dag_id, revision in (("a", 1), ("a", 1), ("a", 2), ("b", 1))
        )
        assert first == again
        assert len({str(each["id"]) for each in (first, next_one, other)}) == 3
        assert isinstance(first["id"], uuid.UUID)


@pytest.mark.django_db
class TestExpression:
    def spec(self, assets):
        return {"type": "PartitionedAssetTimetable", "assets": assets}

    @pytest.fixture(autouse=True)
    def assets(self):
        self.a = Asset.objects.create(name="a", uri="s3://a", created_at=NOW, updated_at=NOW)

    def of_a(self):
        return {"asset": {"uri": "s3://a", "name": "a", "group": "asset", "id": self.a.pk}}

    def test_one_asset_stands_alone(self):
        assert asset_expression(dag(schedule=self.spec({"asset": "a"}))) == self.of_a()

    def test_several_are_nested_as_they_are_written(self):
        spec = self.spec({"any": [{"asset": "a"}, {"all": [{"asset": "a"}, {"ref_name": "later"}]}]})
        assert asset_expression(dag(schedule=spec)) == {
            "any": [self.of_a(), {"all": [self.of_a(), {"asset_ref": {"name": "later"}}]}]
        }

    def test_a_reference_by_uri_stays_one(self):
        made = dag(schedule=self.spec({"ref_uri": "s3://later"}))
        assert asset_expression(made) == {"asset_ref": {"uri": "s3://later"}}

    def test_an_asset_that_is_not_there_has_only_its_name(self):
        made = dag(schedule=self.spec({"asset": "gone"}))
        assert asset_expression(made) == {"asset": {"uri": "", "name": "gone", "group": "", "id": None}}

    @pytest.mark.parametrize("schedule", [None, {"type": "PartitionedAtRuntime"}, {"type": "Nonsense"}])
    def test_a_dag_that_waits_for_nothing_has_none(self, schedule):
        assert asset_expression(dag(schedule=schedule)) is None


@pytest.mark.django_db
class TestDays:
    def hourly(self, zone):
        return dag(schedule={"type": "CronPartitionTimetable", "cron": "0 * * * *", "timezone": zone})

    def ends(self, query):
        """The two instants that a query is bounded by."""
        return dict(query.children)

    @pytest.mark.parametrize(
        ("zone", "day", "begins", "ends"),
        [
            ("UTC", "2026-03-10", "2026-03-10T00:00Z", "2026-03-11T00:00Z"),
            ("Asia/Taipei", "2026-03-10", "2026-03-09T16:00Z", "2026-03-10T16:00Z"),
            ("America/New_York", "2026-03-08", "2026-03-08T05:00Z", "2026-03-09T04:00Z"),
            ("America/New_York", "2026-11-01", "2026-11-01T04:00Z", "2026-11-02T05:00Z"),
        ],
    )
    def test_are_real_days_of_the_zone(self, zone, day, begins, ends):
        found = days.within(self.hourly(zone), date.fromisoformat(day), date.fromisoformat(day))
        assert self.ends(found) == {
            "partition_date__gte": datetime.fromisoformat(begins),
            "partition_date__lt": datetime.fromisoformat(ends),
        }

    def test_nothing_asked_narrows_nothing(self):
        assert not days.asked_for(None, QueryDict("state=success"))

    def test_no_dag_or_one_without_partitions_has_none(self):
        for each in (None, dag(is_partitioned=False)):
            with pytest.raises(BadRequest):
                days.asked_for(each, QueryDict("partition_date_lte=2026-03-10"))

    def test_of_a_dag_that_cannot_be_read_are_those_of_utc(self):
        found = days.within(dag(schedule={"type": "Nonsense"}), date(2026, 3, 10))
        assert self.ends(found) == {"partition_date__gte": datetime(2026, 3, 10, tzinfo=UTC)}

    def test_name_the_parameter_that_is_none(self):
        with pytest.raises(Invalid) as caught:
            days.asked_for(self.hourly("UTC"), QueryDict("partition_date_lte=tomorrow"))
        assert caught.value.problems[0]["loc"] == ["query", "partition_date_lte"]


class TestRefusals:
    """What the engine and the framework refuse, as bodies that clients parse."""

    @pytest.mark.parametrize(
        ("error", "status", "detail"),
        [
            (InvalidKey("no key"), 400, "no key"),
            (PartitionError("no"), 400, "no"),
            (runs.NotPartitioned("no key here"), 400, "no key here"),
            (runs.NotRunnable("over"), 409, "over"),
            (holds.NotHeld("fired"), 409, "fired"),
            (events.InactiveAsset("gone"), 409, "gone"),
            (exceptions.NotAuthenticated(), 401, "Not authenticated"),
            (exceptions.PermissionDenied(), 403, "Forbidden"),
            (exceptions.PermissionDenied("Invalid JWT token"), 403, "Invalid JWT token"),
            (exceptions.MethodNotAllowed("PUT"), 405, "Method Not Allowed"),
            (exceptions.NotFound("no such thing"), 404, "no such thing"),
            (Conflict({"reason": "taken"}), 409, {"reason": "taken"}),
        ],
    )
    def test_have_a_status_and_a_sentence(self, error, status, detail):
        answer = errors.answer(error, {})
        assert answer is not None
        assert (answer.status_code, answer.data) == (status, {"detail": detail})

    def test_a_name_that_is_taken_is_told_as_airflow_does(self):
        answer = errors.answer(runs.DuplicateRunId("x is taken"), {})
        assert answer is not None
        assert answer.data["detail"] == errors.UNIQUE | {"message": "x is taken"}

    def test_what_nobody_anticipated_is_not_hidden(self):
        assert errors.answer(ZeroDivisionError(), {}) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text() | st.sampled_from(SECRETS), inner, max_size=3)
    ),
    max_leaves=12,
)


class TestMasking:
    @given(JSON)
    def test_changes_nothing_but_texts_below_secret_names(self, value):
        assert leaves(masked(value)) == [
            MASK if secret and isinstance(leaf, str) else leaf for leaf, secret in leaves_with_secrecy(value)
        ]

    @given(JSON)
    def test_masks_what_is_masked_no_further(self, value):
        assert masked(masked(value)) == masked(value)


def leaves(value):
    return [leaf for leaf, _ in leaves_with_secrecy(value)]


def leaves_with_secrecy(value, secret=False):
    """Every value that is neither list nor object, and whether it stands right below a secret name."""
    if isinstance(value, dict):
        found = []
        for name, each in value.items():
            found += leaves_with_secrecy(each, any(word in name.lower() for word in SECRETS))
        return found
    if isinstance(value, list):
        return [leaf for each in value for leaf in leaves_with_secrecy(each, secret)]
    return [(value, secret)]
