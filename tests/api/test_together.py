"""Work done once for all who ask at the same moment: each gets their own answer, and their own error."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import IntegrityError, OperationalError

from partitions_site.api import events
from partitions_site.together import Together, once_for_all
from tests.waiting import wait_for

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
