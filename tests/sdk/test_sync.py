from datetime import UTC, datetime

import pytest

from core.models import Asset, Dag, DefinitionSource, Dependency, HeldRun, JournalEntry
from scheduling import configuration, definitions, listening
from scheduling.definitions import NotDefined
from tests.engine import world
from tests.sdk.writing import LATER, NOW, asset, dag, listens, sentences, source, writes

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


class TestBrokenFiles:
    def test_are_recorded_with_their_error_and_line_and_stop_no_other(self, directory):
        bad = directory.write("a_bad", "\n1 / 0\n")
        good = directory.write("b_good", """DAG("good")""")
        report = directory.sync()
        row = source(bad)
        assert (row.error, row.error_line, row.loaded_at) == ("ZeroDivisionError: division by zero", 3, NOW)
        assert row.traceback.endswith("ZeroDivisionError: division by zero\n")
        assert (source(good).error, source(good).error_line, source(good).traceback) == ("", None, "")
        assert dag("good").is_active
        assert report.troubles == (f"{bad}, line 3: ZeroDivisionError: division by zero",)

    def test_keep_the_dags_that_they_defined_before(self, directory):
        directory.write("a", CONSUMER)
        directory.sync()
        directory.write("a", "1 / 0")
        directory.sync(LATER)
        assert dag("consumer").is_active
        assert listens("consumer") == [("a", "IdentityMapper"), ("b", "IdentityMapper")]

    def test_are_forgiven_when_they_are_mended(self, directory):
        name = directory.write("a", "1 / 0")
        directory.sync()
        directory.write("a", """DAG("d")""")
        assert directory.sync(LATER).ok
        assert (source(name).error, source(name).error_line, source(name).traceback) == ("", None, "")

    def test_that_are_not_there_are_recorded_too(self, db):
        definitions.sync(["acme_nothing", "/nowhere/at/all.py"], at=NOW)
        assert dict(DefinitionSource.objects.values_list("name", "error")) == {
            "acme_nothing": "there is no module acme_nothing",
            "/nowhere/at/all.py": "there is no such file or directory",
        }

    def test_are_looked_at_once_though_named_twice(self, directory):
        name = directory.write("a", """DAG("d")""")
        assert definitions.sync([name, name, str(directory.path)], at=NOW).files == 1


class TestRefusedDags:
    def test_show_why_and_stop_no_neighbour(self, directory):
        directory.write("a", """DAG("bad", catchup="sometimes")\nDAG("good")""")
        report = directory.sync()
        assert sentences("bad") == [
            'catchup is True or "all", False or "last", or "none", not \'sometimes\'',
        ]
        assert dag("bad").problems[0]["code"] == "refused"
        assert sentences("good") == []
        assert report.troubles == (f"Dag bad: {sentences('bad')[0]}",)

    def test_stay_what_they_were(self, directory):
        directory.write("a", CONSUMER)
        directory.sync()
        before = dag("consumer").schedule
        directory.write(
            "a", CONSUMER.replace("with DAG(", "with DAG(max_active_runs=0, dag_id=").replace(", )", ")")
        )
        directory.sync(LATER)
        assert dag("consumer").schedule == before
        assert sentences("consumer") == ["max_active_runs is a whole number from 1 on, not 0"]
        assert listens("consumer") == [("a", "IdentityMapper"), ("b", "IdentityMapper")]

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("""DAG("bad", schedule=CronPartitionTimetable("99 * * * *"))""", "99"),
            ("""DAG("bad", schedule=42)""", "a schedule is a timetable"),
            (
                """
                with DAG("bad"):
                    @task
                    def one(): ...
                    @task
                    def two(): ...
                    first, second = one(), two()
                    first >> second >> first
                """,
                "in a circle",
            ),
            (
                """
                class Homemade(Mapper):
                    def to_downstream(self, key): return (key,)

                DAG("bad", schedule=PartitionedAssetTimetable(assets=Asset("a"), partition_mapper=Homemade()))
                """,
                "Homemade",
            ),
        ],
    )
    def test_are_refused_for_what_only_their_definition_shows(self, directory, text, sentence):
        directory.write("a", text)
        directory.sync()
        assert len(sentences("bad")) == 1
        assert sentence in sentences("bad")[0]

    def test_without_a_possible_name_are_a_trouble_of_their_file(self, directory):
        name = directory.write("a", """DAG("")\nDAG("good")""")
        directory.sync()
        assert source(name).error == "a dag_id is text without white space around it, not ''"
        assert list(Dag.objects.values_list("dag_id", flat=True)) == ["good"]

    def test_of_a_name_that_is_taken_are_a_trouble_of_the_second_file(self, directory):
        first = directory.write("a", """DAG("d", tags=["first"])""")
        second = directory.write("b", """DAG("d", tags=["second"])""")
        directory.sync()
        assert dag("d").tags == ["first"]
        assert source(first).error == ""
        assert source(second).error == f"Dag d is defined in {first} already, and that one counts"

    def test_are_forgiven_when_they_are_mended(self, directory):
        directory.write("a", """DAG("d", max_active_runs=0)""")
        directory.sync()
        directory.write("a", """DAG("d", max_active_runs=1)""")
        directory.sync(LATER)
        assert dag("d").problems == []


class TestDependencies:
    def test_are_written_with_the_mapper_of_each_asset(self, directory):
        directory.write(
            "a",
            """
            hourly, daily = Asset("hourly"), Asset("daily")
            DAG("d", schedule=PartitionedAssetTimetable(
                assets=hourly & daily,
                default_partition_mapper=StartOfDayMapper(),
                partition_mapper_config={daily: IdentityMapper()},
            ))
            """,
        )
        directory.sync()
        assert listens("d") == [("hourly", "StartOfDayMapper"), ("daily", "IdentityMapper")]
        assert [each.leaf for each in dag("d").dependencies.order_by("pk")] == [
            {"asset": "hourly"},
            {"asset": "daily"},
        ]

    def test_of_a_dag_that_is_not_partition_aware_have_no_mapper(self, directory):
        directory.write("a", """DAG("d", schedule=Asset("a") | Asset("b"))""")
        directory.sync()
        assert listens("d") == [("a", None), ("b", None)]

    @pytest.mark.parametrize(("producer", "consumer"), [("a", "b"), ("b", "a")])
    def test_find_references_defined_before_or_after(self, directory, producer, consumer):
        directory.write(producer, """x = Asset("x", uri="s3://x")\ny = Asset("y")""")
        directory.write(
            consumer,
            """
            both = Asset.ref(uri="s3://x") & Asset.ref(name="y")
            DAG("d", schedule=PartitionedAssetTimetable(assets=both))
            """,
        )
        directory.sync()
        assert listens("d") == [("x", "IdentityMapper"), ("y", "IdentityMapper")]
        assert dag("d").problems == []

    def test_wait_for_references_that_nothing_defines_yet(self, directory):
        directory.write(
            "a", """DAG("d", schedule=PartitionedAssetTimetable(assets=Asset.ref(uri="s3://x")))"""
        )
        directory.sync()
        assert listens("d") == [(None, "IdentityMapper")]
        assert sentences("d", "warning") == [
            "nothing defines an asset with the uri s3://x yet: its events cannot arrive"
        ]
        revision = dag("d").revision
        directory.write("b", """x = Asset("x", uri="s3://x")""")
        directory.sync(LATER)
        assert listens("d") == [("x", "IdentityMapper")]
        assert dag("d").revision == revision + 1
        assert dag("d").problems == []

    def test_take_the_mapper_that_is_configured_by_another_name_of_the_asset(self, directory):
        directory.write(
            "a",
            """
            x = Asset("x", uri="s3://x")
            DAG("d", schedule=PartitionedAssetTimetable(
                assets=Asset.ref(name="x"),
                partition_mapper_config={Asset.ref(uri="s3://x"): StartOfDayMapper()},
            ))
            """,
        )
        directory.sync()
        assert listens("d") == [("x", "StartOfDayMapper")]

    def test_that_name_one_asset_twice_are_an_error(self, directory):
        directory.write(
            "a",
            """
            x = Asset("x", uri="s3://x")
            DAG("d", schedule=PartitionedAssetTimetable(assets=x & Asset.ref(uri="s3://x")))
            """,
        )
        directory.sync()
        assert listens("d") == [("x", "IdentityMapper"), (None, "IdentityMapper")]
        assert sentences("d") == ["the schedule names asset x twice, by name and by uri: name it once"]

    def test_may_exchange_their_assets(self, directory):
        text = """
            x, y = Asset("x", uri="s3://{}"), Asset("y", uri="s3://{}")
            DAG("d", schedule=PartitionedAssetTimetable(assets=Asset.ref(uri="s3://1") & Asset.ref(uri="s3://2")))
        """
        directory.write("a", text.format(1, 2))
        directory.sync()
        assert [name for name, _ in listens("d")] == ["x", "y"]
        directory.write("a", text.format(2, 1))
        directory.sync(LATER)
        assert [name for name, _ in listens("d")] == ["y", "x"]

    def test_keep_their_age_when_their_mapper_changes(self, directory):
        text = """DAG("d", schedule=PartitionedAssetTimetable(assets=Asset("a"), partition_mapper={}()))"""
        directory.write("a", text.format("IdentityMapper"))
        directory.sync()
        directory.write("a", text.format("StartOfDayMapper"))
        directory.sync(LATER)
        assert listens("d") == [("a", "StartOfDayMapper")]
        assert dag("d").dependencies.get().created_at == NOW

    def test_go_with_the_condition(self, directory):
        directory.write("a", CONSUMER)
        directory.sync()
        directory.write("a", CONSUMER.replace('Asset("a") & ', ""))
        directory.sync(LATER)
        assert listens("consumer") == [("b", "IdentityMapper")]


class TestOutlets:
    def test_follow_the_tasks(self, directory):
        text = """
            with DAG("d"):
                @task(outlets=[{}])
                def write(): ...
        """
        directory.write("a", text.format('Asset("x"), Asset("y")'))
        directory.sync()
        assert writes("d") == [("write", "x"), ("write", "y")]
        directory.write("a", text.format('Asset("y"), Asset("z")'))
        directory.sync(LATER)
        assert writes("d") == [("write", "y"), ("write", "z")]


class TestChangedListening:
    @pytest.fixture
    def held(self, directory) -> HeldRun:
        directory.write("a", CONSUMER)
        directory.sync()
        world.emit("a", "k")
        world.turn()
        return world.held("consumer", "k")

    def test_is_read_anew_and_judges_held_runs_again(self, directory, held):
        """`a & b` waits for b; with `a | b` the same held run, with the same received key, may fire."""
        revision = dag("consumer").revision
        directory.write("a", CONSUMER.replace("&", "|"))
        directory.sync(LATER)
        assert dag("consumer").revision == revision + 1
        assert listening.of_dag(dag("consumer")).listening.condition.words() == "a or b"
        world.turn(LATER)
        assert world.fired("consumer") == ["k"]
        held.refresh_from_db()
        assert held.received.count() == 1

    def test_is_not_made_of_a_new_description(self, directory, held):
        revision = dag("consumer").revision
        directory.write(
            "a", CONSUMER.replace('"consumer",', '"consumer", description="Combines", tags=["x"],')
        )
        directory.sync(LATER)
        held.refresh_from_db()
        assert (dag("consumer").revision, held.judge_after) == (revision, None)

    def test_loses_nothing_received_when_a_dag_goes_and_comes_back(self, directory, held):
        directory.remove("a")
        directory.sync(LATER)
        directory.write("a", CONSUMER)
        directory.sync(LATER)
        world.emit("b", "k", at=LATER)
        world.turn(LATER)
        assert world.fired("consumer") == ["k"]

    def test_of_a_cron_starts_ticking_from_now(self, directory):
        directory.write("c", """DAG("c", schedule=CronPartitionTimetable("0 0 * * *"))""")
        directory.sync(NOW)
        world.turn(LATER)
        directory.write("c", """DAG("c", schedule=CronPartitionTimetable("*/10 * * * *"))""")
        directory.sync(LATER)
        world.turn(LATER)
        assert world.fired("c") == []
        world.turn(LATER.replace(minute=35))
        assert [key[11:] for key in world.fired("c")] == ["10:20:00", "10:30:00"]


class TestPausing:
    def test_is_written_down(self, directory):
        directory.write("a", """DAG("d")""")
        directory.sync()
        assert configuration.set_paused(dag("d"), True, deed=world.ALICE, at=LATER)
        assert (dag("d").is_paused, dag("d").updated_at) == (True, LATER)
        entry = JournalEntry.objects.get(event="dag paused")
        assert (entry.dag_id, entry.by, entry.via, entry.at) == ("d", "alice", "web", LATER)

    def test_twice_is_once(self, directory):
        directory.write("a", """DAG("d")""")
        directory.sync()
        assert not configuration.set_paused(dag("d"), False, deed=world.ALICE, at=LATER)
        assert not JournalEntry.objects.filter(event__startswith="dag unpaused").exists()

    def test_updates_the_row_that_was_given(self, directory):
        directory.write("a", """DAG("d")""")
        directory.sync()
        row = dag("d")
        configuration.set_paused(row, True, deed=world.ALICE, at=LATER)
        assert row.is_paused

    def test_holds_what_is_complete_until_it_ends(self, directory):
        directory.write("a", CONSUMER)
        directory.sync()
        configuration.set_paused(dag("consumer"), True, deed=world.ALICE, at=NOW)
        world.emit("a", "k1", "k2", "k3")
        world.emit("b", "k1", "k2")
        world.turn()
        assert world.fired("consumer") == []
        configuration.set_paused(dag("consumer"), False, deed=world.ALICE, at=LATER)
        world.turn(LATER)
        assert sorted(world.fired("consumer")) == ["k1", "k2"]
        assert world.held("consumer", "k3").verdict == "waiting"

    def test_is_not_made_up_for(self, directory):
        directory.write("c", """DAG("c", schedule=CronPartitionTimetable("*/10 * * * *"), catchup="all")""")
        directory.sync()
        configuration.set_paused(dag("c"), True, deed=world.ALICE, at=NOW)
        world.turn(LATER)
        configuration.set_paused(dag("c"), False, deed=world.ALICE, at=LATER)
        world.turn(LATER.replace(minute=25))
        assert [key[11:] for key in world.fired("c")] == ["10:20:00"]

    def test_before_the_first_tick_leaves_the_start_date(self, directory):
        directory.write(
            "c",
            """
            from datetime import datetime
            DAG("c", schedule=CronPartitionTimetable("0 0 * * *"), start_date=datetime(2026, 3, 9),
                is_paused_upon_creation=True)
            """,
        )
        directory.sync()
        configuration.set_paused(dag("c"), False, deed=world.ALICE, at=LATER)
        world.turn(LATER)
        assert [key[:10] for key in world.fired("c")] == ["2026-03-09", "2026-03-10", "2026-03-11"]


class TestAuthored:
    def test_finds_the_functions_of_a_dag(self, directory):
        directory.write("a", """with DAG("d"):\n    @task\n    def first(): return 1\n""")
        directory.sync()
        assert definitions.authored(dag("d")).steps["first"].task.function() == 1

    def test_runs_a_file_again_only_when_it_changed(self, directory):
        directory.write("a", """DAG("d")""")
        directory.sync()
        before = definitions.authored(dag("d"))
        assert definitions.authored(dag("d")) is before
        directory.write("a", """DAG("d", tags=["new"])""")
        assert definitions.authored(dag("d")).tags == ["new"]

    def test_names_the_error_of_a_file_that_broke(self, directory):
        name = directory.write("a", """DAG("d")""")
        directory.sync()
        directory.write("a", "1 / 0")
        with pytest.raises(NotDefined, match=f"{name}, line 2 cannot be loaded: ZeroDivisionError"):
            definitions.authored(dag("d"))

    def test_says_when_the_file_does_not_define_it_any_more(self, directory):
        directory.write("a", """DAG("d")""")
        directory.sync()
        directory.write("a", """DAG("other")""")
        with pytest.raises(NotDefined, match="does not define Dag d any more"):
            definitions.authored(dag("d"))

    def test_says_when_no_file_holds_it(self, db):
        row = Dag.objects.create(dag_id="lonely", created_at=NOW, updated_at=NOW)
        with pytest.raises(NotDefined, match="no definition file holds it"):
            definitions.authored(row)

    def test_leaves_no_asset_behind(self, directory):
        """Reading a file to run it writes nothing."""
        directory.write("a", """DAG("d")""")
        directory.sync()
        directory.write("a", """DAG("d")\nx = Asset("x")""")
        definitions.authored(dag("d"))
        assert not Asset.objects.exists()
