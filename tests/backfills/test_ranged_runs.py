"""One run for several keys: its partitions and events, and the keys it gives up."""

import pytest

from core.models import AssetEvent, Dag, DagRun
from scheduling import claims, execution, newruns
from scheduling.newruns import NewRun, Type
from tests.engine import world
from tests.engine.world import NOW, RUNTIME, asset, dag, part, start
from tests.sdk.writing import Directory

pytestmark = pytest.mark.django_db
DAYS = {"type": "TimePartitions", "cadence": "day", "start": "2026-01-01"}
KEYS = ["2026-03-01", "2026-03-02", "2026-03-03"]


def ranged(made, keys=KEYS, kind=Type.BACKFILL):
    [run] = newruns.create([NewRun(made, kind, partition_keys=keys)], at=NOW)
    return run


def single(made, key):
    [run] = newruns.create([NewRun(made, Type.MANUAL, partition_key=key)], at=NOW)
    return run


def states(*names):
    return {key: " ".join(part(name, key).state for name in names) for key in KEYS}


@pytest.fixture
def made():
    asset("days", partitions=DAYS)
    return dag("d", RUNTIME, writes=["days"])


class TestKeys:
    def test_of_a_run(self, made):
        assert ranged(made).keys == KEYS
        assert single(made, "a").keys == ["a"]
        assert DagRun(dag=made).keys == []


class TestItsPartitions:
    def test_are_running_while_it_runs_each_with_its_own_date(self, made):
        start(ranged(made))
        assert states("days") == dict.fromkeys(KEYS, "running")
        assert [part("days", key).partition_date.day for key in KEYS] == [1, 2, 3]

    def test_have_data_when_it_succeeds_an_event_each(self, made):
        run = start(ranged(made))
        claims.succeed(run, [claims.Output(asset("days"))], at=NOW)
        assert states("days") == dict.fromkeys(KEYS, "materialized")
        found = AssetEvent.objects.filter(source_run=run).values_list("partition_key", "partition_date__day")
        assert list(found) == list(zip(KEYS, [1, 2, 3], strict=True))

    def test_fail_with_it(self, made):
        claims.fail(start(ranged(made)), "no disk", at=NOW)
        assert states("days") == dict.fromkeys(KEYS, "failed")

    def test_say_what_they_said_before_when_it_is_cancelled(self, made):
        for key, end in (("2026-03-01", claims.succeed), ("2026-03-02", claims.fail)):
            run = start(single(made, key))
            outputs = [claims.Output(asset("days"))] if end is claims.succeed else "boom"
            end(run, outputs, at=NOW)
        claims.stop(start(ranged(made)), at=NOW)
        assert states("days") == {
            "2026-03-01": "materialized",
            "2026-03-02": "failed",
            "2026-03-03": "missing",
        }

    def test_are_those_of_every_outlet(self):
        both = dag("both", RUNTIME, writes=["one", "two"])
        start(ranged(both))
        assert states("one", "two") == dict.fromkeys(KEYS, "running running")

    def test_are_written_in_portions(self, made, monkeypatch):
        monkeypatch.setattr("scheduling.states.MOST_PAIRS", 2)
        claims.succeed(start(ranged(made)), [claims.Output(asset("days"))], at=NOW)
        assert states("days") == dict.fromkeys(KEYS, "materialized")


class TestKeysThatAreGivenUp:
    def end(self, made, failed, keys=None):
        run = start(ranged(made))
        claims.succeed(run, [claims.Output(asset("days"), keys)], at=NOW, failed_keys=failed)
        return DagRun.objects.get(pk=run.pk)

    def test_fail_alone(self, made):
        run = self.end(made, {"2026-03-02": "no file"})
        assert (run.state, run.failed_keys) == ("success", {"2026-03-02": "no file"})
        assert [states("days")[key] for key in KEYS] == ["materialized", "failed", "materialized"]

    def test_emit_nothing_not_even_when_they_were_named(self, made):
        self.end(made, {"2026-03-02": "no file"}, keys=KEYS)
        assert list(AssetEvent.objects.values_list("partition_key", flat=True)) == [KEYS[0], KEYS[2]]

    def test_fail_the_run_if_they_are_all_it_had(self, made):
        run = self.end(made, dict.fromkeys(KEYS, "no disk"))
        assert (run.state, run.error) == ("failed", "no disk")
        assert states("days") == dict.fromkeys(KEYS, "failed")

    def test_must_be_its_own(self, made):
        assert self.end(made, {"2027-01-01": "?"}).failed_keys == {}


class TestWhatATaskSees:
    def execute(self, tmp_path, body, **new):
        directory = Directory(tmp_path)
        directory.write("a", body)
        assert directory.sync().ok
        new = {"partition_keys": KEYS} | new
        [run] = newruns.create([NewRun(Dag.objects.get(dag_id="d"), Type.BACKFILL, **new)], at=NOW)
        execution.execute(world.start(run), clock=lambda: NOW)
        return DagRun.objects.get(pk=run.pk)

    BODY = """
    days = Asset(name="days")
    with DAG("d", schedule=PartitionedAtRuntime(), max_keys_per_run=None):
        @task(outlets=[days])
        def load(partition_keys, partition_key, dag_run):
            print(partition_key, *partition_keys)
            for key in partition_keys:
                if key.endswith("02"):
                    dag_run.fail_partitions(key, "no file")
        load()
    """

    def test_all_its_keys_and_may_give_up_some(self, tmp_path):
        run = self.execute(tmp_path, self.BODY)
        assert [line.text for line in run.log_lines.all()] == [f"None {' '.join(KEYS)}"]
        assert (run.state, run.failed_keys) == ("success", {"2026-03-02": "no file"})
        assert states("days")["2026-03-01"] == "materialized"

    def test_a_run_of_one_key_has_it_in_both(self, tmp_path):
        run = self.execute(tmp_path, self.BODY, partition_keys=None, partition_key="2026-03-01")
        assert [line.text for line in run.log_lines.all()] == ["2026-03-01 2026-03-01"]

    def test_giving_up_a_key_of_another_run_fails_it(self, tmp_path):
        body = self.BODY.replace('key, "no file"', '"else", "no file"')
        run = self.execute(tmp_path, body)
        assert run.state == "failed"
        assert "'else' is none of the 3 keys of this run" in run.error


class TestTheDefinition:
    def sync(self, tmp_path, argument):
        directory = Directory(tmp_path)
        directory.write("a", f"DAG('d', schedule=PartitionedAtRuntime(), max_keys_per_run={argument})")
        directory.sync()
        return Dag.objects.get(dag_id="d")

    @pytest.mark.parametrize(("argument", "stored"), [("None", None), ("7", 7)])
    def test_says_how_many_keys_a_run_can_take(self, tmp_path, argument, stored):
        assert self.sync(tmp_path, argument).max_keys_per_run == stored

    @pytest.mark.parametrize("argument", ["0", "-1", "True", "'3'"])
    def test_of_nothing_is_refused(self, tmp_path, argument):
        [problem] = self.sync(tmp_path, argument).problems
        assert "max_keys_per_run is a whole number from 1 on" in problem["sentence"]
