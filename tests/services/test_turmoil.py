"""All that people do to an engine under way happens at once; what comes of it is what the model predicts."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from scheduling.algebra import specs
from scheduling.algebra.conditions import All, AssetLeaf
from tests.engine.world import HOURS_TO_DAY, IDENTITY
from tests.model.plans import Ask
from tests.model.records import Consumer, Run
from tests.model.reference import Model
from tests.services.parts import DEADLOCKS
from tests.services.turmoil_keys import DAYS, HOURS, KEYS, MADE, OFTEN, TAKEN_BACK

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]

RUNS = """
select run.id, dag.dag_id, run.partition_key, run.run_type, run.state, asset.name, event.partition_key
from core_dagrun run join core_dag dag on dag.id = run.dag_id
left join core_heldrun held on held.run_id = run.id
left join core_consumedevent consumed on consumed.held_run_id = held.id
left join core_assetevent event on event.id = consumed.event_id
left join core_asset asset on asset.id = event.asset_id
where dag.dag_id <> 'often' and run.state <> 'cancelled'
"""
WRITTEN = """
select asset.name, event.partition_key, count(*), count(distinct event.source_run_id)
from core_assetevent event join core_asset asset on asset.id = event.asset_id
where asset.name in ('pairs', 'ends', 'made') group by 1, 2
"""
WRITTEN_BY_CANCELLED = """
select count(*) from core_assetevent event join core_dagrun run on run.id = event.source_run_id
where run.state <> 'success'
"""
NEWEST = """
select part.key, count(*), bool_and(run.state = 'success')
from core_partition part join core_asset asset on asset.id = part.asset_id
join core_consumedevent consumed on consumed.event_id = part.last_event_id
join core_heldrun held on held.id = consumed.held_run_id join core_dagrun run on run.id = held.run_id
where asset.name = 'again' group by 1
"""
HAPPENED = "select event, count(*) from core_journalentry group by 1"
AT_LEAST = {
    "dag paused": 3,
    "schedule changed": 2,
    "run cancelled": 1,
    "run retried": 1,
    "backfill paused": 2,
    "backfill cancelled": 2,
    "records pruned": 2,
    "worker lost": 1,
    "run failed, will be retried": 1,
}


def test_nothing_is_lost_or_doubled_whatever_is_done_meanwhile(crowd):
    crowd.env["PARTITA_LEASE_SECONDS"] = "2"
    crowd.python("-m", "tests.services.turmoil")
    assert crowd.rows(DEADLOCKS) == [(0,)]
    assert as_counted(crowd.rows(RUNS)) == as_predicted(played().runs)
    assert sorted(crowd.rows(WRITTEN)) == sorted(
        (name, key, 1, 1)
        for name, keys in {"pairs": KEYS, "ends": KEYS, "made": MADE + TAKEN_BACK}.items()
        for key in keys
    )
    assert crowd.rows(WRITTEN_BY_CANCELLED) == [(0,)]
    assert crowd.rows("select count(*) from core_heldrun where state = 'held'") == [(0,)]
    assert sorted(crowd.rows(NEWEST)) == [(key, 1, True) for key in OFTEN]
    happened = dict(crowd.rows(HAPPENED))
    assert {name: happened.get(name, 0) for name in AT_LEAST if happened.get(name, 0) < AT_LEAST[name]} == {}


def played() -> Model:
    """The same reports and backfills in peace, with the definitions as they are at the end."""
    model = Model(datetime(2026, 12, 1, tzinfo=UTC))
    identity, by_day = specs.load(IDENTITY, "mapper"), specs.load(HOURS_TO_DAY, "mapper")
    for name, mappers, writes in [
        ("pair", {"a": identity, "b": identity}, ("pairs",)),
        ("after", {"pairs": identity}, ("ends",)),
        ("days", {"hours": by_day}, ()),
        ("fed", {"made": identity}, ()),
        ("maker", {}, ("made",)),
    ]:
        condition = All(tuple(map(AssetLeaf, mappers)))
        model.consumers[name] = Consumer(name, mappers, condition, writes=writes)
    for keys in (MADE, TAKEN_BACK):
        plan = {"maker": dict.fromkeys(keys, "ready")}
        model.start(Ask(("maker",), tuple(keys), limit=2), plan, {"maker": tuple(keys)})
    for asset, keys in {"a": KEYS, "b": KEYS, "hours": HOURS}.items():
        model.record(asset, *keys)
    model.advance()
    while model.route(1000) or model.judge(1000) or executed(model):
        model.advance()
    assert len(model.runs) == 2 * len(KEYS) + len(DAYS) + 2 * len(MADE + TAKEN_BACK)
    return model


def executed(model: Model) -> int:
    queued = [run for run in model.runs if run.state == "queued"]
    for run in queued:
        model.claim(run)
        model.succeed(run)
    return len(queued)


def as_predicted(runs: list[Run]) -> Counter:
    """How often there is a run of that Dag, key, type, state and of those upstream partitions, each once."""
    return Counter(
        (
            run.consumer.name,
            run.key,
            run.run_type,
            run.state,
            tuple(sorted((e.asset, e.key) for e in run.consumed)),
        )
        for run in runs
    )


def as_counted(rows: list[tuple]) -> Counter:
    consumed: dict[tuple, list] = {}
    for *run, name, key in rows:
        consumed.setdefault(tuple(run), []).extend([(name, key)] if name else [])
    return Counter((*run[1:], tuple(sorted(places))) for run, places in consumed.items())
