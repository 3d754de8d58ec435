"""Dynamic partitions: keys come and go, and what went is on record."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from core.models import Dag, DagRun, DynamicKey, JournalEntry, Partition
from scheduling import dating, dynamic, execution, runs
from scheduling.algebra import specs
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.partitions import DynamicPartitions, StaticPartitions
from scheduling.algebra.time_shorthands import DailyPartitions
from scheduling.backfills import Reprocess
from scheduling.board import universe
from scheduling.dynamic import NoSuchPartitions
from scheduling.runs import Ask
from tests.backfills.play import begin, counts, drive, keys, producer
from tests.engine import world
from tests.engine.world import ALICE, NOW, asset, emit
from tests.sdk.writing import Directory

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(days=1)


@pytest.fixture
def stores():
    return asset("sales", partitions=specs.dump(DynamicPartitions("stores")))


def add(*keys, at=NOW):
    return dynamic.add("stores", keys, deed=ALICE, at=at)


def remove(*keys, at=LATER):
    return dynamic.remove("stores", keys, deed=ALICE, at=at)


def expected(*assets, now=NOW):
    return {
        each.name: found.keys
        for each in assets
        if (found := universe.of_assets([each], now=now).get(each.pk))
    }


@pytest.mark.usefixtures("stores")
class TestAdding:
    def test_gives_the_new_ones_in_order(self):
        assert add("berlin", "aachen", "berlin") == ["berlin", "aachen"]
        assert add("aachen", "celle") == ["celle"]
        assert dynamic.keys_of("stores") == ("berlin", "aachen", "celle")

    def test_adds_none_if_one_cannot_be_a_key(self):
        with pytest.raises(InvalidKey, match="white space"):
            add("berlin", " aachen")
        assert dynamic.keys_of("stores") == ()

    def test_is_in_the_journal_once(self):
        add("berlin", "aachen")
        add("berlin")
        [entry] = JournalEntry.objects.filter(event="partition keys added")
        assert (entry.by, entry.via) == ("alice", "web")
        assert entry.extra == {"partitions": "stores", "count": 2, "keys": ["berlin", "aachen"]}

    def test_of_partitions_that_two_assets_share_the_journal_names_both(self):
        asset("rents", partitions=specs.dump(DynamicPartitions("stores")))
        add("berlin")
        entry = JournalEntry.objects.get(event="partition keys added")
        assert (entry.asset_name, entry.extra["assets"]) == ("", ["rents", "sales"])

    def test_of_many_names_some_in_the_journal_and_counts_all(self):
        add(*(f"store {n}" for n in range(2500)))
        extra = JournalEntry.objects.get(event="partition keys added").extra
        assert (extra["count"], len(extra["keys"])) == (2500, dynamic.MOST_TOLD)
        assert len(dynamic.keys_of("stores")) == 2500

    def test_to_partitions_that_nobody_has_is_refused(self):
        with pytest.raises(
            NoSuchPartitions, match="no dynamic partitions are called 'shops': there are stores"
        ):
            dynamic.add("shops", ["berlin"], deed=ALICE, at=NOW)

    def test_keeps_any_script_and_sign(self):
        strange = ["a/b?c#d&e=%2F", "Zürich", "東京", '{"k1":"v1"}', "x, y"]
        assert add(*strange) == strange
        assert dynamic.keys_of("stores") == tuple(strange)

    def test_twice_at_once_is_one_row(self):
        add("berlin")
        with pytest.raises(IntegrityError), transaction.atomic():
            DynamicKey.objects.create(name="stores", key="berlin", added_at=NOW, added_by="bob")


@pytest.mark.usefixtures("stores")
class TestRemoving:
    def test_keeps_the_history(self):
        add("berlin", "aachen")
        assert remove("berlin", "nowhere") == ["berlin"]
        assert dynamic.keys_of("stores") == ("aachen",)
        gone = DynamicKey.objects.get(key="berlin")
        assert (gone.added_at, gone.added_by, gone.removed_at, gone.removed_by) == (
            NOW,
            "alice",
            LATER,
            "alice",
        )

    def test_leaves_events_and_states(self):
        add("berlin")
        emit("sales", "berlin")
        remove("berlin")
        assert Partition.objects.get(key="berlin").state == "materialized"

    def test_and_adding_again_is_a_new_row_at_the_end(self):
        add("berlin", "aachen")
        remove("berlin")
        assert add("berlin", at=LATER) == ["berlin"]
        assert dynamic.keys_of("stores") == ("aachen", "berlin")
        assert DynamicKey.objects.filter(key="berlin").count() == 2

    def test_is_in_the_journal_unless_nothing_was_there(self):
        add("berlin")
        remove("berlin")
        remove("berlin")
        [entry] = JournalEntry.objects.filter(event="partition keys removed")
        assert entry.extra["keys"] == ["berlin"]

    def test_works_for_partitions_that_no_asset_has_any_more(self, stores):
        add("berlin")
        stores.partitions = None
        stores.save()
        assert remove("berlin") == ["berlin"]


class TestNames:
    def test_are_found_wherever_they_stand(self, stores):
        days = MultiPartitions({"day": DailyPartitions("2026-03-01"), "shop": DynamicPartitions("shops")})
        asset("by day", partitions=specs.dump(days))
        asset("listed", partitions=specs.dump(StaticPartitions(["DynamicPartitions"])))
        asset("gone", partitions=specs.dump(DynamicPartitions("old")), is_active=False)
        assert dynamic.names() == {"stores", "shops"}


class TestExpectedKeys:
    def test_follow_what_is_added_and_removed(self, stores):
        assert expected(stores) == {"sales": ()}
        add("berlin", "aachen")
        assert expected(stores) == {"sales": ("berlin", "aachen")}
        remove("berlin")
        add("celle")
        assert expected(stores) == {"sales": ("aachen", "celle")}

    def test_are_shared_by_assets_of_the_same_name(self, stores):
        other = asset("returns", partitions=specs.dump(DynamicPartitions("stores")))
        add("berlin")
        assert expected(stores, other) == {"sales": ("berlin",), "returns": ("berlin",)}

    def test_of_a_composite_key_are_crossed_and_dated(self):
        days = DailyPartitions("2026-03-09")
        both = asset(
            "both",
            partitions=specs.dump(MultiPartitions({"day": days, "store": DynamicPartitions("stores")})),
        )
        add("berlin", "aachen")
        assert expected(both)["both"] == (
            "2026-03-09|berlin",
            "2026-03-09|aachen",
            "2026-03-10|berlin",
            "2026-03-10|aachen",
        )
        assert dating.of_asset(both)("2026-03-10|aachen").day == 10

    def test_cost_no_query_where_nothing_is_dynamic(self):
        days = asset("days", partitions=specs.dump(DailyPartitions("2026-03-09")))
        expected(days)
        with CaptureQueriesContext(connection) as queries:
            expected(days)
        assert not [each for each in queries if "dynamickey" in each["sql"]]


class TestRunningCode:
    def run(self, tmp_path, body):
        directory = Directory(tmp_path)
        directory.write(
            "a",
            f"""
            sales = Asset(name="sales", partitions=DynamicPartitions("stores"))
            days = Asset(name="days", partitions=DailyPartitions("2026-03-01"))
            with DAG("d", schedule=PartitionedAtRuntime()):
                @task(outlets=[sales])
                def load(dynamic_partitions, outlet_events):
                    {body}
                load()
            """,
        )
        assert directory.sync().ok
        run = runs.trigger(Dag.objects.get(dag_id="d"), Ask(), deed=ALICE, at=NOW)
        execution.execute(world.start(run), clock=lambda: LATER)
        return DagRun.objects.get(pk=run.pk)

    @pytest.mark.parametrize("partitions", ["sales", "'stores'", "DynamicPartitions('stores')"])
    def test_adds_keys_and_emits_them(self, tmp_path, partitions):
        body = (
            f"outlet_events[sales].add_partitions(dynamic_partitions.add({partitions}, ['berlin', 'celle']))"
        )
        run = self.run(tmp_path, body)
        assert (run.state, run.error) == ("success", "")
        assert dynamic.keys_of("stores") == ("berlin", "celle")
        assert set(Partition.objects.values_list("key", flat=True)) == {"berlin", "celle"}
        row = DynamicKey.objects.first()
        assert (row.added_by, row.added_at) == (f"run {run.run_id}", LATER)

    def test_looks_and_removes(self, tmp_path):
        asset("sales", partitions=specs.dump(DynamicPartitions("stores")))
        add("berlin", "celle")
        run = self.run(
            tmp_path, "print(dynamic_partitions.keys(sales), dynamic_partitions.remove(sales, 'celle'))"
        )
        assert run.log_lines.get().text == "('berlin', 'celle') ['celle']"
        assert dynamic.keys_of("stores") == ("berlin",)

    @pytest.mark.parametrize(
        ("partitions", "sentence"),
        [
            ("days", "days has 0 dynamic partitions: give the name of one"),
            ("7", "7 are no dynamic partitions: give DynamicPartitions(name), that name, or an asset"),
            ("'shops'", "no dynamic partitions are called 'shops': there are stores"),
        ],
    )
    def test_fails_where_there_are_none(self, tmp_path, partitions, sentence):
        run = self.run(tmp_path, f"dynamic_partitions.add({partitions}, 'x')")
        assert run.state == "failed"
        assert sentence in run.error


class TestABackfillUnderWay:
    @pytest.mark.usefixtures("stores")
    def test_runs_the_keys_it_was_started_with(self):
        """TC-32: what has been taken away since was asked for, and shows as not in the definition."""
        add("berlin", "aachen")
        made = producer("load", "sales")
        backfill = begin(made, max_active_runs=1)
        remove("aachen")
        assert drive(backfill) == [["berlin"], ["aachen"]]
        assert counts(backfill) == {"planned": 2, "done": 2}
        assert keys(made, reprocess=Reprocess.COMPLETED) == ["berlin"], "another one has it no more"
        with pytest.raises(InvalidKey, match="aachen"):
            begin(made, keys=("aachen",), reprocess=Reprocess.COMPLETED)
