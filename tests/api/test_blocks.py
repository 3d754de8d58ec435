"""First rows of long lists that are looked for in few blocks: the same as if all rows were looked at."""

import random
import re
from datetime import timedelta
from functools import partial
from urllib.parse import quote

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext

from core import blocks, counting
from core.models import AssetEvent, DagRun, JournalEntry
from core.models.counts import BLOCK
from partitions_site.api import event_logs, events, runs
from scheduling.belonging import EVERYTHING, Sight
from tests.engine.world import NOW, RUNTIME, asset, dag

pytestmark = [pytest.mark.pg, pytest.mark.django_db]

HOUR = timedelta(hours=1)
STATES = DagRun.State.values
TIMES = {
    "run_after": "run_after",
    "start_date": "started_at",
    "end_date": "ended_at",
    "updated_at": "updated_at",
}
LISTS = {
    "runs": (runs.RUNS, partial(runs.listed, EVERYTHING)),
    "runs of some": (runs.RUNS, partial(runs.listed, Sight(frozenset(["mine"])))),
    "events": (events.EVENTS, AssetEvent.objects.all),
    "journal": (event_logs.LOGS, partial(event_logs.logged, EVERYTHING)),
}


@pytest.fixture(autouse=True)
def always_folds(monkeypatch):
    monkeypatch.setattr(counting, "FEW", 0)


@pytest.fixture
def dags():
    asset("seen", group="mine")
    return [dag("a", RUNTIME, writes=["seen"]), dag("b")]


def run(number, of, at, state="success", **fields):
    """A run that is the only one of a third of a block."""
    begun = {} if state == "queued" else {"started_at": at}
    ended = {} if state in ("queued", "running") else {"ended_at": at + HOUR}
    lease = {"lease_until": NOW} if state == "running" else {}
    beginning = "asset_materialization__" if number % 7 == 0 else "r"
    names = {"run_id": f"{beginning}{number}", "run_type": "manual", "queued_at": at}
    times = {"run_after": at, "updated_at": at} | begun | ended
    return DagRun(pk=(number + 1) * (BLOCK // 3), dag=of, state=state, **(names | times | lease | fields))


def fill(chance, dags):
    """Thirty of each: most in the order of time, some that changed later, some gone."""
    made = []
    for number in range(30):
        at, state = NOW + number * HOUR, chance.choice([*STATES, *["success"] * 6])
        later = {"updated_at": NOW + chance.randrange(40) * HOUR} if chance.random() < 0.2 else {}
        kind = {"run_type": chance.choice(["manual", "scheduled"])}
        made.append(run(number, dags[number % 2], at, state, **later, **kind))
    DagRun.objects.bulk_create(made)
    places = [(number + 1) * (BLOCK // 3) for number in range(30)]
    AssetEvent.objects.bulk_create(
        AssetEvent(pk=pk, asset=asset(chance.choice("xy")), source="api", timestamp=NOW + number * HOUR)
        for number, pk in enumerate(places)
    )
    JournalEntry.objects.bulk_create(
        JournalEntry(
            pk=pk,
            at=NOW + number * HOUR,
            by="x",
            event=f"e{number % 2}",
            dag_id=chance.choice(["", "a", "b"]),
        )
        for number, pk in enumerate(places)
    )
    some = chance.sample([*DagRun.objects.values_list("pk", flat=True)], 6)
    DagRun.objects.filter(pk__in=some[:3]).delete()
    again = {"started_at": NOW + 35 * HOUR, "ended_at": NOW + 36 * HOUR, "updated_at": NOW + 36 * HOUR}
    DagRun.objects.filter(pk__in=some[3:], ended_at__isnull=False).update(**again)
    if chance.random() < 0.7:
        counting.fold()


def question(chance, listing):
    """Some time or two, perhaps something else, in some order, a few of them."""
    times = [*TIMES] if listing is runs.RUNS else ["timestamp"]
    asked = []
    for _ in range(chance.randrange(3)):
        at = quote(f"{NOW + chance.randrange(-1, 40) * HOUR:%Y-%m-%dT%H:%M:%SZ}")
        if listing is event_logs.LOGS:
            asked.append(f"{chance.choice(['before', 'after'])}={at}")
        else:
            asked.append(f"{chance.choice(times)}_{chance.choice(['gte', 'gt', 'lte', 'lt'])}={at}")
    if listing is runs.RUNS:
        others = [
            "",
            "state=success",
            "state=failed",
            "run_type=manual",
            "run_id_pattern=1",
            "dag_id_pattern=a",
        ]
        asked.append(chance.choice(others))
    order = chance.choice([each for each in listing.orders if each != "conf"])
    return "&".join([*asked, f"order_by={chance.choice(['', '-'])}{order}", f"limit={chance.randrange(5)}"])


def page(listing, rows, query):
    asked = QueryDict(query)
    found = listing.page(asked, rows().filter(listing.narrowed(asked)))
    return [row.pk for row in found.rows], found.total, found.next_cursor, found.previous_cursor


def walked(listing, rows, query):
    """Every page by cursor, there and back."""
    token, back, pages = "", None, []
    while token is not None:
        *found, token, back = page(listing, rows, f"{query}&cursor={token}")
        pages.append(found)
    while back is not None:
        *found, _, back = page(listing, rows, f"{query}&cursor={back}")
        pages.append(found)
    return pages


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("seed", range(4))
class TestTheSameAsIfAllWereLookedAt:
    def both(self, monkeypatch, ask):
        """What is answered with a look at few blocks, and by all rows; how often few were enough."""
        enough, has_first = [], blocks.Near.has_first

        def noted(near, found, wanted):
            enough.append(has_first(near, found, wanted))
            return enough[-1]

        monkeypatch.setattr(blocks.Near, "has_first", noted)
        by_block = ask()
        monkeypatch.setattr(blocks, "near", lambda *args, **kwargs: [])
        return by_block, ask(), sum(enough)

    def agreeing(self, monkeypatch, dags, seed, name, ask, parts):
        """Ask both ways with each of `parts` and something by chance; how often the blocks were enough."""
        chance, used = random.Random(seed), 0
        listing, rows = LISTS[name]
        fill(chance, dags)
        monkeypatch.setattr(blocks, "READ", (3, 12))
        monkeypatch.setattr(blocks, "MUST_BE_READ", 3)
        for part in parts:
            query = f"{question(chance, listing)}&{part}"
            with monkeypatch.context() as patch:
                near, all_rows, helped = self.both(patch, partial(ask, listing, rows, query))
            assert near == all_rows, query
            used += helped
        return used

    def test_pages(self, monkeypatch, dags, seed, name):
        parts = [f"offset={offset}" for offset in (0, 0, 3, 12)] * 20
        assert self.agreeing(monkeypatch, dags, seed, name, page, parts) > 5

    def test_pages_by_cursor(self, monkeypatch, dags, seed, name):
        parts = [f"limit={limit}" for limit in (4, 5, 6, 7, 8)] * 3
        assert self.agreeing(monkeypatch, dags, seed, name, walked, parts) > 0


class TestFewBlocks:
    @pytest.fixture(autouse=True)
    def ten_blocks(self, dags, monkeypatch):
        """Of three runs each, of which no more are read than of two, and then of four."""
        DagRun.objects.bulk_create(run(number, dags[0], NOW + number * HOUR) for number in range(30))
        monkeypatch.setattr(blocks, "READ", (6, 12))

    def reads(self, query):
        """What its first page is looked for by, one after the other."""
        with CaptureQueriesContext(connection) as asked:
            page(*LISTS["runs"], query)
        return [each["sql"] for each in asked if "LIMIT" in each["sql"]]

    def ended_by(self, hours):
        return f"end_date_lte={quote(f'{NOW + hours * HOUR:%Y-%m-%dT%H:%M:%SZ}')}&order_by=-run_after"

    def test_what_ended_long_ago_is_looked_for_there_alone(self):
        (asked,) = self.reads(f"{self.ended_by(10)}&limit=2")
        assert sorted(int(each) for each in re.findall(r'"id" >= (\d+)', asked)) == [2 * BLOCK, 3 * BLOCK]

    def test_no_index_is_walked(self):
        """The database would think that rows of a span lie in any block alike."""
        (asked,) = self.reads(f"{self.ended_by(10)}&limit=2")
        assert 'COALESCE(U0."run_after", U0."run_after") DESC' in asked

    def test_if_they_are_too_few_more_are_read(self):
        first, second = self.reads(f"{self.ended_by(10)}&limit=7")
        assert first.count('"id" >=') == 2
        assert second.count('"id" >=') == 4

    def test_if_those_are_too_few_an_index_is_walked(self):
        *_, last = self.reads(f"{self.ended_by(25)}&limit=20")
        assert '"id" >=' not in last

    def test_all_that_match_are_enough(self):
        (asked,) = self.reads(f"{self.ended_by(5)}&limit=20")
        assert asked.count('"id" >=') == 2

    @pytest.mark.parametrize(
        "query", ["order_by=-run_after", "order_by=end_date", "end_date_gte=2026-01-01&order_by=end_date"]
    )
    def test_an_index_is_walked_where_one_has_both(self, query):
        (asked,) = self.reads(f"{query}&limit=1")
        assert '"id" >=' not in asked

    def test_rows_in_few_states_are_all_that_is_read_of_them(self):
        """One failed in each block: six blocks are as soon read as two of those that succeeded."""
        DagRun.objects.filter(pk__in=[each * (BLOCK // 3) * 3 for each in range(1, 11)]).update(
            state="failed"
        )
        (asked,) = self.reads(f"{self.ended_by(25)}&state=failed&limit=5")
        assert asked.count('"id" >=') == 6
