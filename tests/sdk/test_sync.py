from datetime import UTC, datetime

import pytest

from core.models import Dag, Dependency, JournalEntry
from scheduling import configuration
from tests.engine import world
from tests.sdk.writing import LATER, NOW, asset, dag, listens, source, writes

CONSUMER = """
    with DAG("consumer", schedule=PartitionedAssetTimetable(assets=Asset("a") & Asset("b"))):
        pass
"""


def journal() -> list[tuple[str, str]]:
    return list(JournalEntry.objects.order_by("pk").values_list("event", "dag_id"))


class TestAssets:
    def test_are_written_with_all_that_is_said_of_them(self, directory):
        directory.write(
            "sales", """sales = Asset("sales", uri="s3://sales", group="shop", extra={"owner": "ann"})"""
        )
        report = directory.sync()
        row = asset("sales")
        assert (row.uri, row.group, row.extra, row.partitions) == (
            "s3://sales",
            "shop",
            {"owner": "ann"},
            None,
        )
        assert (report.files, report.assets, report.dags, report.ok) == (1, 1, 0, True)

    def test_have_defaults(self, directory):
        directory.write("sales", """sales = Asset("sales")""")
        directory.sync()
        assert (asset("sales").uri, asset("sales").group, asset("sales").extra) == ("sales", "asset", {})

    @pytest.mark.parametrize(("full", "short"), [("a", "b"), ("b", "a")])
    def test_may_be_named_briefly_in_another_file(self, directory, full, short):
        directory.write(full, """sales = Asset("sales", uri="s3://sales", group="shop")""")
        directory.write(short, """sales = Asset("sales")""")
        assert directory.sync().ok
        assert (asset("sales").uri, asset("sales").group) == ("s3://sales", "shop")

    def test_that_two_files_define_differently_are_a_trouble_of_the_second(self, directory):
        first = directory.write("a", """sales = Asset("sales", uri="s3://one")""")
        second = directory.write("b", """sales = Asset("sales", uri="s3://two")""")
        report = directory.sync()
        assert asset("sales").uri == "s3://one"
        assert report.troubles == (
            f"{second}: the uri of asset sales is 's3://two' here and 's3://one' in {first}, which counts",
        )

    def test_follow_their_definition(self, directory):
        directory.write("sales", """sales = Asset("sales", uri="s3://old", extra={"owner": "ann"})""")
        directory.sync()
        directory.write("sales", """sales = Asset("sales", uri="s3://new")""")
        directory.sync(LATER)
        row = asset("sales")
        assert (row.uri, row.extra, row.created_at, row.updated_at) == ("s3://new", {}, NOW, LATER)

    def test_keep_their_partitions_definition(self, directory):
        directory.write("sales", """sales = Asset("sales", partitions=StaticPartitions(["tw", "jp"]))""")
        directory.sync()
        assert asset("sales").partitions == {"type": "StaticPartitions", "keys": ["tw", "jp"]}

    def test_become_inactive_when_nothing_names_them_any_more(self, directory):
        directory.write("sales", """sales = Asset("sales")""")
        directory.sync()
        directory.write("sales", "")
        assert directory.sync(LATER).assets == 0
        assert not asset("sales").is_active
        directory.write("sales", """sales = Asset("sales")""")
        directory.sync(LATER)
        assert asset("sales").is_active
        assert [event for event, _ in journal()] == [
            "asset defined",
            "asset no longer defined",
            "asset changed",
        ]

    def test_stay_as_they_are_while_a_file_cannot_be_loaded(self, directory):
        """The broken file may be the one that defines them in full."""
        directory.write("full", """sales = Asset("sales", uri="s3://sales")\nstock = Asset("stock")""")
        directory.write("short", """sales = Asset("sales")""")
        directory.sync()
        directory.write("full", "1 / 0")
        directory.sync(LATER)
        assert asset("sales").uri == "s3://sales"
        assert asset("stock").is_active


class TestDags:
    def test_are_written_with_all_that_is_said_of_them(self, directory):
        name = directory.write(
            "sales",
            """
            from datetime import datetime

            sales = Asset("sales")

            with DAG(
                "ingest",
                schedule=CronPartitionTimetable("0 * * * *", timezone="Asia/Taipei"),
                description="Hourly sales",
                tags=["shop"],
                catchup=False,
                max_active_runs=2,
                max_attempts=5,
                start_date=datetime(2026, 1, 1),
                end_date=datetime(2027, 1, 1),
                is_paused_upon_creation=True,
            ):
                @task(outlets=[sales])
                def fetch():
                    pass
            """,
        )
        directory.sync()
        row = dag("ingest")
        assert row.schedule == {
            "type": "CronPartitionTimetable",
            "cron": "0 * * * *",
            "timezone": "Asia/Taipei",
        } | ({"key_format": row.schedule["key_format"]} if "key_format" in row.schedule else {})
        assert (row.is_periodic, row.is_partitioned, row.is_paused, row.is_active) == (True, True, True, True)
        assert (row.description, row.tags, row.catchup) == ("Hourly sales", ["shop"], "last")
        assert (row.max_active_runs, row.max_attempts) == (2, 5)
        assert row.start_date == datetime(2026, 1, 1, tzinfo=UTC)
        assert row.end_date == datetime(2027, 1, 1, tzinfo=UTC)
        assert row.tasks == [{"task_id": "fetch", "upstream": [], "outlets": ["sales"], "inlets": []}]
        assert (row.source.name, row.created_at, row.problems) == (name, NOW, [])
        assert writes("ingest") == [("fetch", "sales")]

    def test_without_a_schedule_start_by_hand(self, directory):
        directory.write("sales", """DAG("by hand")""")
        directory.sync()
        assert (dag("by hand").schedule, dag("by hand").is_periodic, dag("by hand").is_partitioned) == (
            None,
            False,
            False,
        )

    def test_whose_code_names_keys_take_keys(self, directory):
        directory.write("sales", """DAG("runtime", schedule=PartitionedAtRuntime())""")
        directory.sync()
        assert dag("runtime").is_partitioned
        assert not dag("runtime").is_periodic

    def test_that_did_not_change_are_left_alone(self, directory):
        directory.write("sales", CONSUMER)
        directory.sync()
        before = list(Dag.objects.values()), list(Dependency.objects.values()), journal()
        directory.sync(LATER)
        assert (list(Dag.objects.values()), list(Dependency.objects.values()), journal()) == before

    def test_that_changed_say_so_in_the_journal(self, directory):
        directory.write("sales", """DAG("d", schedule=PartitionedAtRuntime(), tags=["a"])""")
        directory.sync()
        directory.write("sales", """DAG("d", schedule=None, tags=["b"])""")
        directory.sync(LATER)
        entry = JournalEntry.objects.get(event="dag changed")
        assert (entry.dag_id, entry.by, entry.at) == ("d", "definitions", LATER)
        assert entry.extra == {
            "changed": ["is_partitioned", "schedule", "tags"],
            "was": {"type": "PartitionedAtRuntime"},
            "now": None,
            "revision": 2,
        }

    def test_stay_paused_as_people_left_them(self, directory):
        directory.write("sales", """DAG("d", is_paused_upon_creation=True)""")
        directory.sync()
        configuration.set_paused(dag("d"), False, deed=world.ALICE, at=NOW)
        directory.write("sales", """DAG("d", is_paused_upon_creation=True, tags=["x"])""")
        directory.sync(LATER)
        assert not dag("d").is_paused

    def test_may_move_to_another_file(self, directory):
        directory.write("a", """DAG("d")""")
        directory.sync()
        directory.write("a", "")
        name = directory.write("b", """DAG("d")""")
        directory.sync(LATER)
        assert (dag("d").source.name, dag("d").is_active) == (name, True)

    def test_become_inactive_when_their_file_drops_them(self, directory):
        directory.write("a", """DAG("d")""")
        directory.sync()
        directory.write("a", "")
        assert directory.sync(LATER).dags == 0
        assert (dag("d").is_active, dag("d").updated_at) == (False, LATER)
        assert journal()[-1] == ("dag no longer defined", "d")

    def test_become_inactive_when_their_file_is_gone(self, directory):
        directory.write("a", """DAG("d")""")
        name = directory.write("broken", "1 / 0")
        directory.sync()
        directory.remove("a")
        directory.remove("broken")
        directory.sync(LATER)
        assert not dag("d").is_active
        assert (source(name).error, source(name).fingerprint) == ("", "")

    def test_come_back(self, directory):
        directory.write("a", CONSUMER)
        directory.sync()
        directory.remove("a")
        directory.sync(LATER)
        directory.write("a", CONSUMER)
        directory.sync(LATER)
        assert dag("consumer").is_active
        assert listens("consumer") == [("a", "IdentityMapper"), ("b", "IdentityMapper")]
