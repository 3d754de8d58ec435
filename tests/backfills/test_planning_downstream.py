"""A plan of what comes after: consumers of the partitions that are asked for, and theirs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Dag
from scheduling import runs
from scheduling.backfills import CannotBackfill, Order
from scheduling.listening import BrokenDefinition
from scheduling.runs import Ask as RunAsk
from tests.backfills.play import (
    daily,
    days,
    hourly,
    keys,
    listener,
    plan,
    producer,
    reasons,
)
from tests.engine.world import (
    ALICE,
    HOURS_TO_DAY,
    IDENTITY,
    NOW,
    REGIONS,
    asset,
    consumer,
    emit,
    hours,
)

pytestmark = pytest.mark.django_db


class TestConsumers:
    @pytest.fixture
    def day(self):
        """A day needs its 24 hours; 2026-03-10 has 22 of them, 2026-03-09 all."""
        hourly(start="2026-03-09", key_format="%Y-%m-%dT%H:%M:%S")
        made = listener("day", "hours", daily("days").name, HOURS_TO_DAY)
        emit("hours", *hours("2026-03-09", *range(24)), *hours("2026-03-10", *range(22)))
        return made

    def test_run_directly_where_their_upstream_is_there(self, day):
        assert keys(day, selection="2026-03-09") == ["2026-03-09"]

    def test_say_which_upstream_keys_they_lack(self, day):
        why = reasons(day, selection="[2026-03-09...2026-03-10]")
        assert why == {"2026-03-10": "its upstream is not complete: waiting on 2 of 24: hours 22, 23"}

    def test_nobody_is_offered_to_make_what_nobody_writes(self, day):
        found = plan(day, selection="2026-03-10", with_upstream=True)
        assert (found.count, found.offers) == (0, ())

    def test_offer_to_backfill_exactly_the_missing_keys_first(self, day):
        producer("hour", "hours")
        found = plan(day, selection="[2026-03-09...2026-03-10]")
        assert [(offer.dag.dag_id, list(offer.keys)) for offer in found.offers] == [
            ("hour", hours("2026-03-10", 22, 23))
        ]
        assert [key for _, key in found.pairs()] == ["2026-03-09"]

    def test_with_upstream_the_producers_come_first(self, day):
        producer("hour", "hours")
        found = plan(day, selection="[2026-03-09...2026-03-10]", with_upstream=True)
        first, second = found.parts
        assert (first.dag.dag_id, first.layer, first.keys) == ("hour", 0, hours("2026-03-10", 22, 23))
        assert (second.dag.dag_id, second.layer, second.keys) == ("day", 1, days(9, 10))
        assert second.waiting == {"2026-03-10"}
        assert found.offers == ()

    def test_two_producers_are_not_guessed_between(self, day):
        producer("hour", "hours")
        producer("other hour", "hours")
        assert plan(day, selection="2026-03-10").offers == ()

    def test_nobody_is_offered_to_make_a_key_that_cannot_be(self):
        """A Dag that makes `all` of regions is not asked for a day, which only its rollup knows."""
        consumer("world", {"regions": REGIONS}, writes=["worlds"])
        after = listener("after", "worlds", "ends")
        [offer] = plan(after, keys=("all", "2026-03-10")).offers
        assert (offer.dag.dag_id, offer.keys) == ("world", ("all",))
        assert [part.dag for part in plan(after, keys=("2026-03-10",), with_upstream=True).parts] == [after]

    def test_what_is_under_way_is_not_asked_for_again(self, day):
        hour = producer("hour", "hours")
        runs.trigger(hour, RunAsk("2026-03-10T22:00:00"), deed=ALICE, at=NOW)
        [offer] = plan(day, selection="2026-03-10").offers
        assert list(offer.keys) == hours("2026-03-10", 23)

    def test_producers_of_producers_come_before_them(self):
        first = producer("first", "as")
        listener("second", "as", "bs")
        third = listener("third", "bs", "cs")
        assert first.pk
        found = plan(third, keys=("2026-03-01", "2026-03-02"), with_upstream=True)
        assert [(part.dag.dag_id, part.layer, part.keys) for part in found.parts] == [
            ("first", 0, days(1, 2)),
            ("second", 1, days(1, 2)),
            ("third", 2, days(1, 2)),
        ]

    def test_without_a_definition_have_the_keys_that_their_upstream_leads_to(self):
        hourly(key_format="%Y-%m-%dT%H:%M:%S")
        made = listener("day", "hours", "days", HOURS_TO_DAY)
        [part] = plan(made).parts
        assert part.order == ("2026-03-10", "2026-03-11")
        assert part.skipped["2026-03-10"].startswith("its upstream is not complete: waiting on 24 of 24")

    def test_of_two_assets_need_both_or_either(self):
        both = consumer("both", {"a": IDENTITY, "b": IDENTITY}, writes=["out"])
        either = consumer("either", {"a": IDENTITY, "b": IDENTITY}, join="any", writes=["any"])
        emit("a", "x")
        assert keys(both, keys=("x",)) == []
        assert keys(either, keys=("x",)) == ["x"]
        emit("b", "x")
        assert keys(both, keys=("x",)) == ["x"]

    def test_of_all_known_partitions_need_every_one(self):
        made = consumer("all", {"a": {"type": "AllPartitionsMapper"}}, writes=["out"])
        assert reasons(made, keys=("all",)) == {}
        emit("a", "x")
        assert keys(made, keys=("all",)) == ["all"]

    def test_whose_mapper_cannot_be_read_are_refused_with_the_reason(self):
        made = consumer("broken", {"a": {"type": "NoSuchMapper"}}, writes=["out"])
        with pytest.raises(BrokenDefinition, match="NoSuchMapper"):
            plan(made, keys=("x",))

    def test_many_keys_cost_as_many_queries_as_few(self):
        asset("a")
        made = consumer("copy", {"a": IDENTITY}, writes=["out"])
        emit("a", *(f"k{n}" for n in range(300)))
        plan(made, keys=("k1",))
        with CaptureQueriesContext(connection) as few:
            plan(made, keys=("k1",))
        with CaptureQueriesContext(connection) as many:
            plan(made, keys=tuple(f"k{n}" for n in range(300)))
        assert len(many) == len(few)


class TestDownstream:
    def chain(self):
        first = producer("first", "as")
        listener("second", "as", "bs")
        listener("third", "bs", "cs")
        return first

    def test_follows_key_by_key(self):
        found = plan(self.chain(), selection="[2026-03-01...2026-03-02]", with_downstream=True)
        assert [(part.dag.dag_id, part.layer, part.keys) for part in found.parts] == [
            ("first", 0, days(1, 2)),
            ("second", 1, days(1, 2)),
            ("third", 2, days(1, 2)),
        ]
        assert [part.waiting for part in found.parts] == [set(), set(days(1, 2)), set(days(1, 2))]

    def test_a_dag_to_which_no_key_leads_is_no_part(self):
        first = producer("first", "as")
        listener("months", "as", "bs", {"type": "StartOfMonthMapper", "input_format": "%Y"})
        found = plan(first, keys=("2026-03-01",), with_downstream=True)
        assert [part.dag.dag_id for part in found.parts] == ["first"]

    def test_runs_again_though_it_has_data(self):
        first = self.chain()
        emit("bs", "2026-03-01")
        found = plan(first, keys=("2026-03-01",), with_downstream=True)
        assert [part.dag.dag_id for part in found.parts] == ["first", "second", "third"]

    def test_that_would_not_be_complete_is_left_out(self):
        hourly(key_format="%Y-%m-%dT%H:%M:%S")
        hour = producer("hour", "hours")
        listener("day", "hours", "days", HOURS_TO_DAY)
        found = plan(hour, selection="2026-03-10T05:00:00", with_downstream=True)
        assert found.parts[1].skipped == {
            "2026-03-10": "its upstream is not complete: waiting on 23 of 24: hours 00–04, 06–23"
        }
        whole = plan(hour, selection="[2026-03-10...2026-03-10]", with_downstream=True)
        assert whole.parts[1].keys == ["2026-03-10"]
        assert whole.count == 25

    def test_in_a_circle_is_refused(self):
        first = listener("first", "bs", "as")
        listener("second", "as", "bs")
        emit("bs", "x")
        with pytest.raises(CannotBackfill, match="wait for each other in a circle"):
            plan(first, keys=("x",), with_downstream=True)

    def test_newest_first_all_the_way(self):
        found = plan(
            self.chain(), selection="[2026-03-01...2026-03-03]", with_downstream=True, order=Order.NEWEST
        )
        assert [part.keys for part in found.parts] == [days(1, 3)[::-1]] * 3

    def test_several_dags_named_come_in_order_too(self):
        first = self.chain()
        third = Dag.objects.get(dag_id="third")
        second = Dag.objects.get(dag_id="second")
        found = plan(third, first, second, keys=("2026-03-01",))
        assert [(part.dag.dag_id, part.layer) for part in found.parts] == [
            ("first", 0),
            ("second", 1),
            ("third", 2),
        ]
