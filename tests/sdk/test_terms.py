from datetime import UTC, datetime, timedelta, timezone

import pytest

from scheduling.algebra.conditions import All
from scheduling.algebra.errors import InvalidDefinition
from scheduling.authoring.dags import assets_of
from scheduling.authoring.terms import check_dag_id, terms_of
from scheduling.sdk import (
    DAG,
    Asset,
    AssetTimetable,
    CronPartitionTimetable,
    CronTriggerTimetable,
    PartitionedAssetTimetable,
    StartOfDayMapper,
    asset,
    task,
)

A, B = Asset("a"), Asset("b")
TAIPEI = timezone(timedelta(hours=8))


class TestUnknownArguments:
    def test_that_a_dag_does_not_have_are_refused_with_those_it_has(self):
        with pytest.raises(TypeError, match="DAG has no argument zzz: it takes dag_id, schedule, "):
            DAG("d", zzz=1)

    def test_that_are_misspelled_are_told(self):
        with pytest.raises(
            InvalidDefinition, match=r"no argument max_active_run: did you mean max_active_runs\?"
        ):
            DAG("d", max_active_run=1)

    def test_that_people_know_from_elsewhere_are_told_what_there_is_instead(self):
        with pytest.raises(InvalidDefinition, match=r"DAG has no argument params: .* is its conf"):
            DAG("d", params={"region": "tw"})

    def test_of_an_asset_with_its_dag_are_those_of_a_dag(self):
        with pytest.raises(InvalidDefinition, match="DAG has no argument params"):

            @asset(params={})
            def made(): ...


class TestSchedule:
    def test_may_be_none(self):
        assert terms_of(DAG("d")).timetable is None

    def test_may_be_a_timetable(self):
        timetable = CronPartitionTimetable("0 * * * *")
        assert terms_of(DAG("d", schedule=timetable)).timetable == timetable

    @pytest.mark.parametrize("schedule", [A & B, [A, B], (A, B)])
    def test_may_be_assets(self, schedule):
        assert terms_of(DAG("d", schedule=schedule)).timetable == AssetTimetable(All((A, B)))

    def test_may_be_one_asset(self):
        assert terms_of(DAG("d", schedule=A)).timetable == AssetTimetable(A)
        assert terms_of(DAG("d", schedule=[A])).timetable == AssetTimetable(A)

    def test_may_be_a_cron(self):
        assert terms_of(DAG("d", schedule="@daily")).timetable == CronTriggerTimetable("@daily")

    @pytest.mark.parametrize("schedule", [timedelta(days=1), [], StartOfDayMapper(), 5, object()])
    def test_is_nothing_else(self, schedule):
        with pytest.raises(InvalidDefinition, match="a schedule is a timetable"):
            terms_of(DAG("d", schedule=schedule))

    def test_is_checked(self):
        with pytest.raises(InvalidDefinition, match="99"):
            terms_of(DAG("d", schedule=CronPartitionTimetable("99 * * * *")))

    def test_says_what_the_dag_listens_to(self):
        listening = PartitionedAssetTimetable(assets=A & Asset.ref(uri="s3://c") & A)
        assert terms_of(DAG("d", schedule=listening)).leaves == (A, Asset.ref(uri="s3://c"))
        assert terms_of(DAG("d", schedule="@daily")).leaves == ()


class TestArguments:
    @pytest.mark.parametrize(
        ("written", "kept"),
        [(True, "all"), (False, "last"), ("all", "all"), ("last", "last"), ("none", "none")],
    )
    def test_catchup_is_one_of_three(self, written, kept):
        assert terms_of(DAG("d", catchup=written)).catchup == kept

    @pytest.mark.parametrize("catchup", ["sometimes", None, [], 2])
    def test_catchup_is_nothing_else(self, catchup):
        with pytest.raises(InvalidDefinition, match="catchup is True"):
            terms_of(DAG("d", catchup=catchup))

    @pytest.mark.parametrize("name", ["max_active_runs", "max_attempts"])
    @pytest.mark.parametrize("value", [0, -1, 1.5, "3", True, None])
    def test_limits_count_from_one(self, name, value):
        with pytest.raises(InvalidDefinition, match=f"{name} is a whole number from 1"):
            terms_of(DAG("d", **{name: value}))

    def test_dates_are_kept_in_utc(self):
        terms = terms_of(
            DAG("d", start_date=datetime(2026, 1, 1, tzinfo=TAIPEI), end_date=datetime(2026, 2, 1))
        )
        assert terms.start_date == datetime(2025, 12, 31, 16, tzinfo=UTC)
        assert terms.end_date == datetime(2026, 2, 1, tzinfo=UTC)

    def test_dates_are_instants(self):
        with pytest.raises(InvalidDefinition, match="start_date is a datetime, not '2026-01-01'"):
            terms_of(DAG("d", start_date="2026-01-01"))

    def test_tags_are_a_list(self):
        assert terms_of(DAG("d", tags=("sales", 1))).tags == ["sales", "1"]
        with pytest.raises(InvalidDefinition, match="tags is a list"):
            terms_of(DAG("d", tags="sales"))

    @pytest.mark.parametrize("dag_id", ["", " ", " a", "a ", "a" * 251, "a\nb", None, 7])
    def test_dag_ids_are_names(self, dag_id):
        with pytest.raises(InvalidDefinition, match="a dag_id"):
            check_dag_id(dag_id)

    @pytest.mark.parametrize("dag_id", ["a", "a/b", "Zürich, täglich", "a" * 250])
    def test_dag_ids_may_be_in_any_script(self, dag_id):
        assert check_dag_id(dag_id) == dag_id

    def test_are_checked_only_here(self):
        """One bad Dag must not keep its file from being loaded."""
        DAG("", catchup="sometimes", max_active_runs=-1, schedule=5)


class TestTasks:
    def test_are_told_in_order_with_what_they_write_and_read(self):
        @task(outlets=[A], inlets=[B, Asset.ref(uri="s3://c"), Asset.ref(name="d")])
        def write(rows):
            pass

        @task
        def read():
            pass

        with DAG("d") as dag:
            write(read())
        assert terms_of(dag).tasks() == [
            {"task_id": "read", "upstream": [], "outlets": [], "inlets": []},
            {"task_id": "write", "upstream": ["read"], "outlets": ["a"], "inlets": ["b", "s3://c", "d"]},
        ]

    def test_name_assets_along_with_the_schedule(self):
        @task(outlets=[A], inlets=[Asset("in"), Asset.ref(name="elsewhere")])
        def write():
            pass

        with DAG("d", schedule=PartitionedAssetTimetable(assets=B | Asset.ref(name="other"))) as dag:
            write()
        assert [each.name for each in assets_of(dag)] == ["a", "in", "b"]
        assert [each.name for each in assets_of(DAG("e", schedule=[A, B]))] == ["a", "b"]
        assert assets_of(DAG("f", schedule="@daily")) == []
