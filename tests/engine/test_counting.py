"""Counts of runs: what PostgreSQL keeps, against what a count of all rows gives."""

import random

import pytest
from django.db.models import Q

from core import counting
from core.models import Dag, DagRun, RunCount
from core.models.counts import BLOCK
from partitions_site.api.wire import of_types
from scheduling import corrections, runs
from scheduling.belonging import Sight
from scheduling.runs import Ask
from tests.engine.counted import HOUR, SPREAD, ranges, right
from tests.engine.world import ALICE, NOW, RUNTIME, asset, dag, finish, start

pytestmark = [pytest.mark.pg, pytest.mark.usefixtures("always_folds")]

STATES = DagRun.State.values
TYPES = ("manual", "scheduled")


def made(number, state="success", *, of, after=NOW, begun=True, **fields):
    at = after + number * HOUR
    times = {"started_at": at, "ended_at": at + HOUR} if begun else {}
    lease = {"lease_until": NOW} if state == "running" else {}
    beginning = "r" if number % 3 else "asset_materialization__"
    names = {
        "run_id": f"{beginning}{number}",
        "run_type": "manual",
        "state": state,
        "queued_at": at,
        "run_after": at,
    }
    return DagRun(pk=(number + 1) * SPREAD, dag=of, updated_at=at, **(names | times | lease | fields))


def questions():
    """What people narrow runs by."""
    states = [Q(state__in=["success", "skipped"]), Q(state__in=["failed"]), ~Q(state="success")]
    dags = [Q(dag__dag_id="a"), Q(dag__dag_id__icontains="A"), Sight(frozenset(["mine"])).dags("dag")]
    either = [Q(state="failed") | Q(run_type="scheduled"), Q(run_type__in=["manual"], dag__dag_id="b")]
    alone = [Q(), *states, *dags, *either, *by_hand()]
    times = [*ranges("run_after", "started_at", "ended_at", "updated_at")]
    return [*alone, *times, *(states[0] & dags[0] & each for each in times)]


def all_right(asked):
    return all(right(DagRun.objects.filter(each)) for each in asked)


def by_hand():
    """What the API asks for, and what looks like it."""
    begun = Q(run_id__startswith="asset_materialization__")
    return [
        *(of_types(names) for names in (["manual"], ["manual", "scheduled"])),
        ~begun,
        ~begun & Q(state="failed"),
    ]


@pytest.fixture
def dags(db):
    asset("seen", group="mine")
    return [dag("a", RUNTIME, writes=["seen"]), dag("b")]


class TestRuns:
    def test_are_counted_as_they_are_by_all_that_they_are_narrowed_by(self, dags):
        new = [made(each, STATES[each % 6], of=dags[each % 2], begun=each % 5 > 0) for each in range(20)]
        DagRun.objects.bulk_create(new)
        assert counting.known(DagRun.objects.all()) == 20
        assert all_right(questions())

    @pytest.mark.parametrize("seed", range(4))
    def test_are_counted_whatever_happens_to_them(self, dags, seed):
        chance, number = random.Random(seed), 0
        for _ in range(12):
            some = chance.sample(
                [*DagRun.objects.values_list("pk", flat=True)], min(3, DagRun.objects.count())
            )
            rows, at = DagRun.objects.filter(pk__in=some), NOW + chance.randrange(20) * HOUR
            match chance.randrange(6):
                case 0 | 1:
                    states = {"state": chance.choice(STATES), "run_type": chance.choice(TYPES)}
                    new = [made(number + each, of=dags[each % 2], **states) for each in range(4)]
                    DagRun.objects.bulk_create(new)
                    number += 4
                case 2:
                    rows.update(state=chance.choice(["failed", "queued"]), updated_at=at)
                case 3:
                    rows.update(started_at=at, ended_at=None)
                case 4:
                    rows.delete()
                case 5:
                    counting.fold()
            assert all_right(chance.sample(questions(), 25))

    @pytest.mark.parametrize("narrowed", [Q(), Q(dag__dag_id="a"), Q(dag__dag_id__in=["c"]), Q(note="")])
    def test_are_counted_by_kind(self, dags, narrowed):
        new = [made(each, STATES[each % 6], of=dags[each % 2], begun=each % 5 > 0) for each in range(20)]
        DagRun.objects.bulk_create(new)
        DagRun.objects.filter(state="failed").delete()
        rows = DagRun.objects.filter(narrowed)
        kinds = {(run.dag_id, run.state) for run in rows}
        by_hand = {kind: rows.filter(dag=kind[0], state=kind[1]).count() for kind in kinds}
        assert counting.of_each(rows, "dag_id", "state") == by_hand

    def test_are_counted_by_kind_from_what_is_kept(self, dags, django_assert_num_queries):
        DagRun.objects.bulk_create(made(each, of=dags[0]) for each in range(3))
        with django_assert_num_queries(1) as asked:
            assert counting.of_each(DagRun.objects.filter(dag__in=dags), "state") == {("success",): 3}
        assert "core_runcount" in asked[0]["sql"]

    def test_are_counted_through_their_lives(self, dags):
        for key in ("x", "y", "z"):
            runs.trigger(dags[0], Ask(key), deed=ALICE, at=NOW)
        begun = start(DagRun.objects.first())
        finish(begun)
        DagRun.objects.filter(partition_key="y").update(state="cancelled", ended_at=NOW)
        corrections.delete(DagRun.objects.get(partition_key="y"), deed=ALICE, at=NOW)
        by_state = {each: counting.known(DagRun.objects.filter(state=each)) for each in STATES}
        assert by_state == dict.fromkeys(STATES, 0) | {"success": 1, "queued": 1}

    def test_a_few_on_the_edge_are_counted_one_by_one(self, dags, django_assert_num_queries):
        DagRun.objects.bulk_create(made(each, of=dags[0]) for each in range(20))
        with django_assert_num_queries(2) as asked:
            assert counting.known(DagRun.objects.filter(run_after__gte=NOW + 7.5 * HOUR)) == 12
        assert f'"id" >= {2 * BLOCK}' in asked[1]["sql"]
        with django_assert_num_queries(1):  # from the first of a block on: none is on the edge
            assert counting.known(DagRun.objects.filter(run_after__gte=NOW + 9 * HOUR)) == 11

    def test_what_is_asked_in_most_parts_is_asked_in_four(self, dags, django_assert_num_queries):
        """As `counting.known` says: whoever wants all of one moment needs a transaction that sees one."""
        DagRun.objects.bulk_create(made(each, of=dags[0]) for each in range(20))
        with django_assert_num_queries(4):
            counting.known(DagRun.objects.filter(of_types(["manual"]), run_after__gte=NOW + 7.5 * HOUR))

    def test_of_too_many_on_the_edge_all_are_counted(self, dags, monkeypatch, django_assert_num_queries):
        monkeypatch.setattr(counting, "MOST_COUNTED", 2)
        new = [made(each, of=dags[0], run_after=NOW + (each % 3) * HOUR) for each in range(20)]
        DagRun.objects.bulk_create(new)
        with django_assert_num_queries(2) as asked:
            assert counting.known(DagRun.objects.filter(run_after__gte=NOW + HOUR)) == 13
        assert '"id" >=' not in asked[1]["sql"]

    @pytest.mark.parametrize(
        "asked", [Q(run_id="r1"), Q(state="success") | Q(note=""), Q(pk__in=[1]), ~Q(run_after__gte=NOW)]
    )
    def test_what_the_counts_do_not_tell_they_do_not_answer(self, dags, asked):
        made(1, of=dags[0]).save(force_insert=True)
        assert counting.known(DagRun.objects.filter(asked)) is None

    def test_nor_what_is_no_list_of_them(self, dags):
        assert counting.known(DagRun.objects.distinct()) is None
        assert counting.known(DagRun.objects.all()[:3]) is None
        assert counting.known(Dag.objects.all()) is None

    def test_of_a_dag_by_anything_about_it(self, dags):
        made(1, of=dags[0]).save(force_insert=True)
        assert counting.known(DagRun.objects.filter(dag__is_paused=False)) == 1
        assert counting.known(DagRun.objects.filter(dag__is_paused=True)) == 0


class TestFolding:
    def test_one_row_is_left_of_those_alike(self, dags):
        for each in range(4):
            made(each, of=dags[0]).save(force_insert=True)
        made(0, of=dags[0]).delete()
        assert RunCount.objects.count() == 5
        counting.fold()
        assert [*RunCount.objects.values_list("block", "rows").order_by("block")] == [(0, 2), (1, 1)]
        assert not RunCount.objects.filter(is_change=True).exists()

    def test_nothing_is_left_of_what_is_gone(self, dags):
        made(1, of=dags[0]).save(force_insert=True)
        counting.fold()
        DagRun.objects.all().delete()
        counting.fold()
        assert not RunCount.objects.exists()

    def test_a_few_are_left_as_they_are(self, dags, monkeypatch):
        monkeypatch.setattr(counting, "FEW", 5)
        made(1, of=dags[0]).save(force_insert=True)
        counting.fold()
        assert RunCount.objects.filter(is_change=True).count() == 1
