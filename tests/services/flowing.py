"""Events that are reported to an installation and to the reference model, and what must come of them in both.

The model lives through the events in peace and in an order that suits it: nothing that is compared depends
on the order, on the time, or on what is counted together.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from scheduling.algebra.conditions import All, AssetLeaf
from tests.model.records import Consumer, Event, Run
from tests.model.reference import Model
from tests.services.flow import LISTENING
from tests.services.parts import DEADLOCKS, Parts

CONSUMED = """
with numbered as (
    select event.id, asset.name, event.partition_key as key,
        row_number() over (partition by asset.id, event.partition_key order by event.id) as place
    from core_assetevent event join core_asset asset on asset.id = event.asset_id
)
select run.id, dag.dag_id, run.partition_key, run.run_type, run.state, event.name, event.key, event.place
from core_dagrun run join core_dag dag on dag.id = run.dag_id
left join core_heldrun held on held.run_id = run.id
left join core_consumedevent consumed on consumed.held_run_id = held.id
left join numbered event on event.id = consumed.event_id
where run.partition_key like %s
"""
HELD = """
select dag.dag_id, held.partition_key, asset.name, received.key
from core_heldrun held join core_dag dag on dag.id = held.dag_id
join core_receivedkey received on received.held_run_id = held.id
join core_asset asset on asset.id = received.asset_id
where held.state = 'held' and held.partition_key like %s
"""
EVENTS = """
select asset.name, event.partition_key
from core_assetevent event join core_asset asset on asset.id = event.asset_id
where event.partition_key like %s
"""
LEFT_TO_DO = """
select (select count(*) from core_assetevent where routed_at is null)
    + (select count(*) from core_heldrun where state = 'held' and judge_after <= now())
    + (select count(*) from core_dagrun where state in ('queued', 'running'))
"""


class Flow:
    """Events that are reported to the installation, and to the model."""

    def __init__(self, parts: Parts, month: str) -> None:
        self.parts, self.month = parts, month
        self.model = Model(datetime(2026, 12, 1, tzinfo=UTC))
        for name, listening in LISTENING.items():
            expression = All(tuple(AssetLeaf(each) for each in listening.mappers))
            consumer = Consumer(name, dict(listening.mappers), expression, writes=(listening.writes,))
            self.model.consumers[name] = consumer

    def rise(self) -> None:
        """The first half of a day."""
        for first in (0, 4, 8):
            self._report("readings", self._hours(1, range(first, first + 4)))

    def go_on(self) -> None:
        """Its second half and its price, and two hours of a day that never gets the others."""
        self._report("readings", self._hours(2, (7, 9)))
        self._report("prices", [f"{self.month}-01"])
        for first in (12, 16, 20):
            self._report("readings", self._hours(1, range(first, first + 4)))

    def come_to_its_end(self) -> None:
        """When nothing is left to do, it is what the model says; and again when the day is reported anew."""
        self._compare(runs=26 + 1 + 1 + 24)
        self._report("readings", self._hours(1, range(24)))
        self._compare(runs=26 + 1 + 1 + 24 + 24 + 1)
        assert self.parts.rows(DEADLOCKS) == [(0,)]

    def _compare(self, *, runs: int) -> None:
        """Of hours, days, reports and hourly prices; then of the hours and the day once more, while their
        report waits whether its price comes, too."""
        _live_through(self.model)
        assert len(self.model.runs) == runs
        self.parts.wait_for(lambda: self.parts.rows(LEFT_TO_DO) == [(0,)], seconds=240)
        assert self._runs() == Counter(_told(run, self.model) for run in self.model.runs)
        assert self._events() == Counter((event.asset, event.key) for event in self.model.events)
        assert self._held() == {
            (each.consumer.name, each.key): set(each.counted) for each in self.model.open()
        }

    def _report(self, asset: str, keys: Iterable[str]) -> None:
        self.parts.emit(asset, *keys)
        self.model.record(asset, *keys)

    def _hours(self, day: int, hours: Iterable[int]) -> list[str]:
        return [f"{self.month}-{day:02}T{hour:02}:00:00" for hour in hours]

    def _runs(self) -> Counter:
        """Each run with the partitions that it consumed, each as it was written for the nth time."""
        consumed: dict[tuple, dict] = {}
        for *run, name, key, place in self.parts.rows(CONSUMED, f"{self.month}%"):
            places = consumed.setdefault(tuple(run), {})
            places[name, key] = max(place, places.get((name, key), 0))
        return Counter((*run[1:], frozenset(places.items())) for run, places in consumed.items())

    def _held(self) -> dict[tuple[str, str], set]:
        held: dict[tuple[str, str], set] = {}
        for dag_id, key, *received in self.parts.rows(HELD, f"{self.month}%"):
            held.setdefault((dag_id, key), set()).add(tuple(received))
        return held

    def _events(self) -> Counter:
        return Counter(self.parts.rows(EVENTS, f"{self.month}%"))


def _live_through(model: Model) -> None:
    """All that follows from what was recorded: mapped, judged, executed well."""
    while model.route(1000) or model.judge(1000) or _execute(model):
        pass


def _execute(model: Model) -> int:
    queued = [run for run in model.runs if run.state == "queued"]
    for run in queued:
        model.claim(run)
        model.succeed(run)
    return len(queued)


def _told(run: Run, model: Model) -> tuple:
    places: dict[tuple, int] = {}
    for event in run.consumed:
        place = _place(event, model)
        places[event.asset, event.key] = max(place, places.get((event.asset, event.key), 0))
    return (run.consumer.name, run.key, run.run_type, run.state, frozenset(places.items()))


def _place(event: Event, model: Model) -> int:
    same = [each for each in model.events if (each.asset, each.key) == (event.asset, event.key)]
    return same.index(event) + 1
