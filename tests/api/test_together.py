"""Work done once for all who ask at the same moment: each gets their own answer, and their own error."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, OperationalError, connection
from django.utils import timezone
from rest_framework.test import APIClient

from core.models import Asset, AssetEvent, JournalEntry, Partition
from partitions_site import roles
from partitions_site.api import events
from partitions_site.together import Together, once_for_all
from scheduling.events import EventReport
from scheduling.journal import Deed

SECONDS = 10


class Desk:
    """Doubles numbers. Who comes first is kept waiting until `others` have come."""

    def __init__(self, others, fails=()):
        self.others, self.fails = others, dict(fails)
        self.portions: list[list[int]] = []
        self.ask = Together(self.work)

    def work(self, numbers):
        self.portions.append(numbers)
        if len(self.portions) == 1:
            wait_for(lambda: len(self.ask._waiting) == self.others)
        for number in numbers:
            if number in self.fails:
                raise self.fails[number]
        return [2 * number for number in numbers]

    def crowd(self):
        """What each gets who asks: an answer, or an error. 0 comes first."""

        def one(number):
            try:
                return self.ask(number)
            except Exception as error:
                return error

        with ThreadPoolExecutor(self.others + 1) as pool:
            first = pool.submit(one, 0)
            wait_for(lambda: self.portions)
            rest = [pool.submit(one, number) for number in range(1, self.others + 1)]
            return [each.result(SECONDS) for each in (first, *rest)]


def wait_for(question):
    until = time.monotonic() + SECONDS
    while not question():
        assert time.monotonic() < until
        time.sleep(0.001)


class TestTogether:
    def test_all_who_wait_are_answered_by_one_piece_of_work(self):
        desk = Desk(others=5)
        assert desk.crowd() == [0, 2, 4, 6, 8, 10]
        assert [sorted(portion) for portion in desk.portions] == [[0], [1, 2, 3, 4, 5]]

    def test_whoever_is_alone_waits_for_nobody(self):
        desk = Desk(others=0)
        assert [desk.ask(number) for number in range(3)] == [0, 2, 4]
        assert desk.portions == [[0], [1], [2]]

    def test_nobody_gets_the_error_of_another(self):
        desk = Desk(others=3, fails={2: IntegrityError("two")})
        *fine, three = [each for each in desk.crowd() if not isinstance(each, Exception)]
        assert (fine, three) == ([0, 2], 6)
        assert sorted(map(len, desk.portions)) == [1, 1, 1, 1, 3]

    def test_the_one_who_fails_gets_theirs(self):
        error = ValueError("two")
        assert Desk(others=3, fails={2: error}).crowd()[2] is error

    def test_what_the_database_may_have_done_is_not_done_again(self):
        gone = OperationalError("server closed the connection unexpectedly")
        desk = Desk(others=3, fails={2: gone})
        assert desk.crowd() == [0, gone, gone, gone]
        assert len(desk.portions) == 2

    def test_a_failure_leaves_nobody_waiting(self):
        desk = Desk(others=2, fails={1: SystemExit()})
        with ThreadPoolExecutor(3) as pool:
            first = pool.submit(desk.ask, 0)
            wait_for(lambda: desk.portions)
            ends = [first, pool.submit(desk.ask, 1), pool.submit(desk.ask, 2)]
            assert [type(each.exception(SECONDS)) for each in ends] == [type(None), SystemExit, SystemExit]
        assert desk.ask(4) == 8


class TestComing:
    """Whoever works waits a moment for those who are on their way."""

    def test_they_are_waited_for(self):
        portions, both = [], threading.Barrier(2)
        ask = Together(lambda numbers: portions.append(numbers) or numbers, patience=SECONDS)

        def come(number, pause):
            with ask.coming():
                both.wait(SECONDS)
                time.sleep(pause)
                return ask(number)

        with ThreadPoolExecutor(2) as pool:
            ends = [pool.submit(come, number, pause) for number, pause in ((1, 0), (2, 0.05))]
            assert [each.result(SECONDS) for each in ends] == [1, 2]
        assert portions == [[1, 2]]

    def test_nobody_waits_for_who_turns_back(self):
        ask, has_begun = Together(lambda numbers: numbers, patience=SECONDS), threading.Event()

        def turn_back():
            with ask.coming():
                has_begun.set()
                wait_for(lambda: ask._waiting)
                raise ValueError("refused")

        with ThreadPoolExecutor(1) as pool:
            back = pool.submit(turn_back)
            has_begun.wait(SECONDS)
            begun = time.monotonic()
            with ask.coming():
                assert ask(1) == 1
            assert time.monotonic() - begun < SECONDS
            with pytest.raises(ValueError, match="refused"):
                back.result(SECONDS)

    def test_nor_longer_than_a_moment_for_who_takes_their_time(self):
        ask = Together(lambda numbers: numbers, patience=0.05)
        with ask.coming(), ThreadPoolExecutor(1) as pool:
            begun = time.monotonic()
            assert pool.submit(ask, 1).result(SECONDS) == 1
            assert time.monotonic() - begun >= 0.05

    def test_whoever_is_alone_waits_for_nobody(self):
        ask, begun = Together(lambda numbers: numbers, patience=SECONDS), time.monotonic()
        for number in range(3):
            with ask.coming():
                assert ask(number) == number
        assert time.monotonic() - begun < SECONDS

    @pytest.mark.django_db
    @pytest.mark.parametrize("body", [{"asset_id": 2**40}, {"asset_id": "x"}, [], {}])
    def test_a_request_that_is_refused_is_not_expected_any_more(self, api, lab, body):
        assert api.post("/api/v2/assets/events", body).status_code in (404, 422)
        assert events.RECORD._coming == 0
        assert api.post("/api/v2/assets/events", {"asset_id": lab["plain_asset"].pk}).status_code == 200
        assert events.RECORD._coming == 0


class TestOnceForAll:
    def test_the_same_is_looked_up_once_after_the_last_has_asked(self):
        """Else somebody would get what was so before they asked: a token that was revoked meanwhile."""
        asked, now = [], [0]

        def look(name):
            asked.append(name)
            if len(asked) == 1:
                wait_for(lambda: len(find._waiting) == 3)
            now[0] += 1
            return f"{name} {now[0]}"

        find = once_for_all(look)
        with ThreadPoolExecutor(4) as pool:
            first = pool.submit(find, "a")
            wait_for(lambda: asked)
            rest = [pool.submit(find, name) for name in ("a", "b", "a")]
            assert first.result(SECONDS) == "a 1"
            a, b, again = [each.result(SECONDS) for each in rest]
        assert a == again != "a 1"
        assert sorted([a[0], b[0]]) == ["a", "b"]
        assert sorted(asked) == ["a", "a", "b"]


@pytest.fixture
def at_once(user_of, monkeypatch):
    """Has several report at the same moment: all but the first are recorded together.

    Gives their answers, and how many were recorded at a time. `meanwhile` happens before the second time.
    """
    user, recorded = user_of(roles.OPERATOR), events.RECORD._work

    def at_once(*bodies, meanwhile=lambda: None):
        portions = []

        def record(asked):
            portions.append(len(asked))
            if len(portions) == 1:
                wait_for(lambda: len(desk._waiting) == len(bodies) - 1)
            elif len(portions) == 2:
                meanwhile()
            return recorded(asked)

        def one(body):
            client = APIClient(raise_request_exception=False)
            client.force_authenticate(user)
            try:
                return client.post("/api/v2/assets/events", body)
            finally:
                connection.close()

        desk = Together(record)
        monkeypatch.setattr(events, "RECORD", desk)
        with ThreadPoolExecutor(len(bodies)) as pool:
            first = pool.submit(one, bodies[0])
            wait_for(lambda: portions)
            rest = [pool.submit(one, body) for body in bodies[1:]]
            return [each.result(SECONDS) for each in (first, *rest)], portions

    return at_once


@pytest.mark.django_db(transaction=True)
class TestEventsOfOneMoment:
    def test_each_has_its_own_answer_and_entry(self, lab, at_once):
        pk, keys = lab["regional_orders"].pk, ["tw", "jp", "us", "tw"]
        answers, portions = at_once(
            *({"asset_id": pk, "partition_key": key, "extra": {"n": n}} for n, key in enumerate(keys))
        )
        assert portions == [1, 3]
        assert [answer.json()["partition_key"] for answer in answers] == keys
        kept = AssetEvent.objects.in_bulk([answer.json()["id"] for answer in answers])
        assert [kept[answer.json()["id"]].extra["n"] for answer in answers] == [0, 1, 2, 3]
        entries = JournalEntry.objects.filter(event="asset event recorded")
        assert sorted(entries.values_list("partition_key", "by")) == sorted((k, "operator") for k in keys)
        last = max(pk for pk, event in kept.items() if event.partition_key == "tw")
        assert Partition.objects.get(key="tw").last_event_id == last

    def test_one_idempotency_key_among_them_is_one_event(self, lab, at_once):
        body = {"asset_id": lab["plain_asset"].pk, "idempotency_key": "run 7"}
        answers, portions = at_once(body | {"idempotency_key": "run 6"}, body, body, body)
        assert portions == [1, 3]
        assert sorted(answer.status_code for answer in answers[1:]) == [200, 200, 201]
        assert len({answer.json()["id"] for answer in answers[1:]}) == 1
        assert JournalEntry.objects.filter(event="asset event recorded").count() == 2

    def test_one_that_says_another_thing_is_refused_alone(self, lab, at_once):
        body = {"asset_id": lab["plain_asset"].pk, "idempotency_key": "run 7"}
        answers, _ = at_once(body, body | {"partition_key": "k"}, body | {"idempotency_key": "run 8"})
        assert [answer.status_code for answer in answers] == [201, 422, 201]

    def test_one_that_another_process_records_meanwhile_is_found(self, lab, at_once):
        body = {"asset_id": lab["plain_asset"].pk, "idempotency_key": "run 7"}
        answers, portions = at_once(
            body | {"idempotency_key": "run 6"},
            body,
            {"asset_id": lab["plain_asset"].pk, "partition_key": "k"},
            meanwhile=lambda: events.register_each(
                [(EventReport(lab["plain_asset"], idempotency_key="run 7"), Deed("other", "api"))],
                source=AssetEvent.Source.API,
                at=timezone.now(),
            ),
        )
        assert (portions, [answer.status_code for answer in answers]) == ([1, 2], [201, 200, 200])
        assert AssetEvent.objects.get(idempotency_key="run 7").created_by == "other"
        assert AssetEvent.objects.count() == 3

    def test_one_that_cannot_be_recorded_fails_alone(self, lab, at_once):
        """Its asset is gone since it was looked up, which only the commit tells."""
        now = timezone.now()
        gone = Asset.objects.create(name="gone", uri="gone", created_at=now, updated_at=now)
        pk = lab["plain_asset"].pk
        answers, portions = at_once(
            {"asset_id": pk, "partition_key": "a"},
            {"asset_id": pk, "partition_key": "b"},
            {"asset_id": gone.pk, "partition_key": "c"},
            {"asset_id": pk, "partition_key": "d"},
            meanwhile=gone.delete,
        )
        assert portions == [1, 3, 1, 1, 1]
        assert [answer.status_code for answer in answers] == [200, 200, 500, 200]
        assert sorted(AssetEvent.objects.values_list("partition_key", flat=True)) == ["a", "b", "d"]
        assert JournalEntry.objects.filter(event="asset event recorded").count() == 3
