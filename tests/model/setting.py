"""The Dags of a history, in engine and model alike."""

from datetime import timedelta

from scheduling.algebra.conditions import All, AssetLeaf
from scheduling.algebra.mappers import IdentityMapper
from scheduling.algebra.timetables import CronPartitionTimetable
from tests.model.deeds import START, Deeds, consumer_of
from tests.model.definitions import LISTED, Definition, definition, some
from tests.model.limits import Limit
from tests.model.records import ONCE, Attempts, Consumer, Late

HOURLY = CronPartitionTimetable("0 * * * *")
ATTEMPTS = (
    ONCE,
    Attempts(retries=1, timeout=timedelta(minutes=10)),
    Attempts(retries=2, delay=timedelta(minutes=4), backoff=2.0, timeout=timedelta(minutes=4)),
    Attempts(retries=2, delay=timedelta(0)),
)
AT_FIRST = (Limit(), Limit(3, 1), Limit(2, 1), Limit(2, 2))


class Setting(Deeds):
    """Seven Dags: two random ones, one after the first, one that knows no keys, one that ticks, and two
    that only backfills start: of one asset or of two, and of one whose keys come and go.
    """

    def define(self, choose):
        attempts, accepts = choose(ATTEMPTS), choose([True, False])
        self.engine.keep("d")
        if choose([True, False]):
            self._both("list_keys", "c", *some(choose, LISTED, 6))
        self.catchup = choose(["all", "last", "none"])
        after = Definition({"out": IdentityMapper()}, All, Late.SETTLE, timedelta(minutes=10))
        for name, listening, writes in [
            ("first", definition(choose), "out"),
            ("second", definition(choose), ""),
            ("next", after, "far"),
        ]:
            self.model.consumers[name] = consumer_of(name, listening, (writes,) if writes else ())
            self.model.consumers[name].attempts = attempts
            self.engine.listen(name, listening, (writes,) if writes else (), attempts)
        plain = Consumer(
            "plain", {"c": IdentityMapper()}, AssetLeaf("c"), is_plain=True, counts_keyed=accepts
        )
        self.model.consumers["plain"] = plain
        self.engine.listen_plainly("plain", "c", accept=accepts)
        made = choose([("b",), ("a", "b")])
        maker = Consumer("maker", {}, AssetLeaf(""), writes=made, attempts=attempts)
        self.model.consumers["maker"] = maker
        self.engine.make("maker", made, attempts)
        self.ticker = Consumer("ticker", {}, AssetLeaf(""), writes=("ticks",), timetable=HOURLY)
        self.model.consumers["ticker"] = self.ticker
        self.model.ticked_until["ticker"] = START
        self.engine.tick_with("ticker", HOURLY, self.catchup, "ticks")
        keeper = Consumer("keeper", {}, AssetLeaf(""), writes=("d",), attempts=attempts, is_dynamic=True)
        self.model.consumers["keeper"] = keeper
        self.engine.make("keeper", ("d",), attempts)
        for name in self.model.consumers:
            self._limit(name, choose(AT_FIRST))
