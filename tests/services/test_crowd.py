"""Many processes, one PostgreSQL: nothing is lost and nothing is done twice."""

import pytest

pytestmark = [pytest.mark.services, pytest.mark.timeout(180)]

SEGMENTS = {
    "type": "RollupMapper",
    "upstream_mapper": {"type": "FixedKeyMapper", "downstream_key": "all"},
    "window": {"type": "SegmentWindow", "segments": ["tw", "us"]},
}
IDENTITY = {"type": "IdentityMapper"}


def test_two_processes_posting_one_key_200_times_give_one_held_run_and_one_run(crowd):
    crowd.define(all={"regional": SEGMENTS})
    crowd.run(
        ["post", "regional", *["tw"] * 200],
        ["post", "regional", *["tw"] * 200],
        ["engine"],
        ["engine"],
    )
    assert crowd.rows("select state, received_count from core_heldrun") == [("held", 1)]
    assert crowd.rows("select count(*) from core_assetevent where routed_at is not null") == [(400,)]
    crowd.run(["post", "regional", "us"], ["engine"], ["engine"])
    assert crowd.rows("select state from core_heldrun") == [("fired",)]
    assert crowd.rows("select partition_key from core_dagrun") == [("all",)]
    assert crowd.rows("select count(*) from core_consumedevent") == [(401,)]


def test_four_assets_meeting_on_one_key_make_one_run_of_four_events_each_time(crowd):
    names, keys = ["a", "b", "c", "d"], [f"k{number}" for number in range(200)]
    crowd.define(joined=dict.fromkeys(names, IDENTITY), other={"a": IDENTITY, "b": IDENTITY})
    crowd.run(*(["post", name, *keys] for name in names), ["engine"], ["engine"])
    runs = crowd.rows("select dag_id, partition_key, count(*) from core_dagrun group by 1, 2")
    assert len(runs) == 400
    assert {count for *_, count in runs} == {1}
    consumed = crowd.rows(
        "select d.dag_id, count(*) from core_consumedevent c join core_heldrun h on h.id = c.held_run_id"
        " join core_dag d on d.id = h.dag_id group by h.id, d.dag_id"
    )
    assert {pair: consumed.count(pair) for pair in set(consumed)} == {("joined", 4): 200, ("other", 2): 200}
    assert crowd.rows("select max(round), count(*) filter (where state <> 'fired') from core_heldrun") == [
        (1, 0)
    ]
