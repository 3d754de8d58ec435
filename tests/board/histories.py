"""Histories of one asset and the Dag that writes it, made of steps that `hypothesis` draws."""

from datetime import timedelta

from hypothesis import strategies as st

from core.models import Asset, HeldRun, Outlet, Partition
from scheduling import claims, drawings, runs
from scheduling.algebra import specs
from scheduling.holds import cancel
from scheduling.runs import Ask
from scheduling.sdk import DailyPartitions
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, asset, consumer, emit, hours, turn

DAYS = [f"2026-03-{day:02}" for day in range(1, 13)]
DEFINITIONS = (
    None,
    specs.dump(DailyPartitions("2026-03-02", end_offset=1)),
    specs.dump(DailyPartitions("2026-03-04", "2026-03-09")),
)
STEPS = st.one_of(
    st.tuples(st.just("emit"), st.sampled_from([*DAYS, "oops"])),
    st.tuples(st.just("hour"), st.sampled_from(DAYS)),
    st.tuples(st.just("run"), st.sampled_from(DAYS)),
    st.tuples(st.just("fail"), st.sampled_from(DAYS)),
    st.tuples(st.just("stale"), st.sampled_from(DAYS)),
    st.tuples(st.just("cancel"), st.sampled_from(DAYS)),
    st.tuples(st.just("wipe"), st.sampled_from(DAYS)),
    st.tuples(st.just("define"), st.sampled_from(range(len(DEFINITIONS)))),
    st.tuples(st.just("writer"), st.booleans()),
    st.tuples(st.just("wait"), st.sampled_from(range(3))),
    st.tuples(st.just("draw"), st.sampled_from([1, 3, 100])),
)


class History:
    """Steps of one history, taken on a Dag that makes days of hours and on what it writes."""

    def __init__(self):
        self.now = NOW
        self.dag = consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])

    def take(self, kind, what):
        getattr(self, kind)(what)
        self.now += timedelta(seconds=1)

    def emit(self, key):
        emit("daily", key, at=self.now)

    def hour(self, day):
        emit("hourly", *hours(day, 3), at=self.now)
        turn(self.now)

    def run(self, day):
        world.start(runs.trigger(self.dag, Ask(day, settle_held=False), deed=ALICE, at=self.now), at=self.now)

    def fail(self, day):
        run = self.dag.runs.filter(state="running", partition_key=day).first()
        if run:
            claims.fail(run, "boom", at=self.now)

    def stale(self, day):
        Partition.objects.filter(key=day).update(stale_since=self.now)

    def cancel(self, day):
        row = HeldRun.objects.held().filter(partition_key=day).first()
        if row:
            cancel(row, deed=ALICE, at=self.now)

    def wipe(self, day):
        Partition.objects.filter(key=day).update(data_at=None, attempt="")

    def define(self, which):
        Asset.objects.filter(name="daily").update(partitions=DEFINITIONS[which])

    def writer(self, there):
        other = self.dag.__class__.objects.filter(dag_id="other").first() or world.dag("other")
        Outlet.objects.filter(dag=other).delete()
        if there:
            Outlet.objects.create(dag=other, asset=asset("daily"), task_id="write")

    def wait(self, days):
        self.now += timedelta(days=days)

    def draw(self, portion):
        drawings.draw(now=self.now, portion=portion)
