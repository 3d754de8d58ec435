"""Wait policies: how many of the required keys are enough."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.durations import duration, duration_text, duration_words
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.policies import Cancel, Deadline, Fire, MinimumCount, Outcome, WaitForAll


class TestWaitForAll:
    def test_needs_every_key(self):
        policy = WaitForAll()
        assert policy.threshold(24) == 24
        assert not policy.satisfied(23, 24)
        assert policy.satisfied(24, 24)
        assert policy.satisfied(0, 0)

    def test_is_always_within_reach(self):
        assert not WaitForAll().unreachable(0)
        assert WaitForAll().sentence() == "all"


class TestMinimumCount:
    """TC-26."""

    def test_of_at_least_twenty_is_met_by_the_twentieth(self):
        policy = MinimumCount(20)
        assert not policy.satisfied(19, 24)
        assert policy.satisfied(20, 24)
        assert policy.sentence() == "at least 20"

    @pytest.mark.parametrize(
        ("required", "threshold"), [(24, 22), (23, 21), (25, 23), (2, 0), (1, 0), (0, 0)]
    )
    def test_of_at_most_two_missing_follows_the_length_of_the_day(self, required, threshold):
        policy = MinimumCount(-2)
        assert policy.threshold(required) == threshold
        assert policy.satisfied(threshold, required)
        assert not policy.satisfied(threshold - 1, required)
        assert not policy.unreachable(required)
        assert policy.sentence() == "at most 2 missing"

    @pytest.mark.parametrize(("required", "unreachable"), [(23, True), (24, False), (25, False)])
    def test_may_be_out_of_reach_on_a_short_day(self, required, unreachable):
        assert MinimumCount(24).unreachable(required) is unreachable

    @pytest.mark.parametrize("n", [0, 0.0, False, True, 2.5, "3", None, [1], float("nan")])
    def test_is_a_whole_number_other_than_zero(self, n):
        with pytest.raises(InvalidDefinition) as refusal:
            MinimumCount(n)
        assert refusal.value.path == "n"

    @given(st.integers(-40, 40).filter(bool), st.integers(0, 40), st.integers(0, 40))
    def test_is_never_unmet_by_more_keys(self, n, required, received):
        policy = MinimumCount(n)
        if policy.satisfied(received, required):
            assert policy.satisfied(received + 1, required)
        assert policy.unreachable(required) == (not policy.satisfied(required, required))


class TestDeadline:
    def test_waits_for_all(self):
        policy = Deadline(after="6h", then=MinimumCount(20))
        assert policy.threshold(24) == 24
        assert not policy.satisfied(23, 24)
        assert not policy.unreachable(0)

    def test_passes(self):
        policy = Deadline(after="6h", then=Fire)
        assert not policy.passed(timedelta(hours=5, minutes=59))
        assert policy.passed(timedelta(hours=6))

    @pytest.mark.parametrize("after", ["6h", timedelta(hours=6), 21600, "360m"])
    def test_takes_its_span_in_several_ways(self, after):
        assert Deadline(after=after, then=Fire) == Deadline(after=timedelta(hours=6), then=Outcome.FIRE)

    @pytest.mark.parametrize(
        ("then", "words"),
        [
            (MinimumCount(20), "all, or after 6 hours: at least 20"),
            (MinimumCount(-1), "all, or after 6 hours: at most 1 missing"),
            (Fire, "all, or after 6 hours: fire"),
            ("cancel", "all, or after 6 hours: cancel"),
            (Cancel, "all, or after 6 hours: cancel"),
        ],
    )
    def test_says_how_it_ends(self, then, words):
        assert Deadline(after="6h", then=then).sentence() == words

    @pytest.mark.parametrize("then", ["explode", None, 5, WaitForAll(), ["fire"]])
    def test_ends_in_nothing_else(self, then):
        with pytest.raises(InvalidDefinition, match="MinimumCount"):
            Deadline(after="6h", then=then)

    @pytest.mark.parametrize(
        "after", ["", "soon", "6", "-6h", 0, -5, None, True, timedelta(0), "6h30", "h", 1e30]
    )
    def test_needs_a_span_of_time(self, after):
        with pytest.raises(InvalidDefinition, match="span of time") as refusal:
            Deadline(after=after, then=Fire)
        assert refusal.value.path == "after"


class TestDurations:
    @pytest.mark.parametrize(
        ("text", "span"),
        [
            ("90s", timedelta(seconds=90)),
            ("10m", timedelta(minutes=10)),
            ("6h", timedelta(hours=6)),
            ("1d12h", timedelta(days=1, hours=12)),
            ("2d3h4m5s", timedelta(days=2, hours=3, minutes=4, seconds=5)),
            (0.5, timedelta(milliseconds=500)),
        ],
    )
    def test_are_read(self, text, span):
        assert duration(text) == span

    @pytest.mark.parametrize(
        ("span", "text", "words"),
        [
            (timedelta(hours=36), "1d12h", "1 day 12 hours"),
            (timedelta(minutes=1), "1m", "1 minute"),
            (timedelta(seconds=3661), "1h1m1s", "1 hour 1 minute 1 second"),
            (timedelta(0), "0s", "0 seconds"),
        ],
    )
    def test_are_written(self, span, text, words):
        assert duration_text(span) == text
        assert duration_words(span) == words

    @given(st.integers(1, 10**8))
    def test_come_back_as_they_were(self, seconds):
        span = timedelta(seconds=seconds)
        assert duration(duration_text(span)) == span


class TestNeeds:
    @pytest.mark.parametrize(
        ("policy", "required", "words"),
        [
            (WaitForAll(), 1, "1 key"),
            (WaitForAll(), 0, "0 keys"),
            (MinimumCount(5), 24, "5 of 24 keys"),
            (MinimumCount(24), 24, "24 keys"),
            (MinimumCount(24), 23, "24 keys, and there can only be 23"),
            (MinimumCount(-1), 10_000, "9,999 of 10,000 keys"),
            (MinimumCount(-3), 2, "1 of 2 keys"),
            (Deadline("90m", Fire), 24, "24 keys; after 1 hour 30 minutes whatever has come"),
            (Deadline("6h", Cancel), 24, "24 keys; after 6 hours it is cancelled"),
            (Deadline("6h", MinimumCount(-4)), 24, "24 keys; after 6 hours 20 of 24 keys"),
        ],
    )
    def test_says_how_many_of_how_many(self, policy, required, words):
        assert policy.needs(required) == words
