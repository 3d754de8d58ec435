"""Pools as definitions name them and people change them."""

import json

import pytest

from core.models import JournalEntry, Pool
from partitions_site.cli import program
from scheduling import claims, newruns
from scheduling.algebra.errors import InvalidDefinition
from scheduling.authoring.terms import terms_of
from scheduling.configuration import pools
from scheduling.configuration.pools import InvalidPool, PoolInUse, PoolTaken
from scheduling.newruns import NewRun, Type
from scheduling.sdk import DAG
from tests.engine.world import ALICE
from tests.sdk.writing import LATER, NOW, Directory, dag, sentences

pytestmark = pytest.mark.django_db


def sync(directory, text):
    directory.write("a", text)
    return directory.sync()


def journal(event):
    return [(each.by, each.extra) for each in JournalEntry.objects.filter(event=event)]


class TestDefinitions:
    def test_make_the_pool_they_name(self, directory: Directory):
        assert sync(directory, 'DAG("d", pool="sftp", pool_slots=2)').ok
        assert (dag("d").pool.name, dag("d").pool.slots, dag("d").pool_slots) == ("sftp", 2, 2)
        assert journal("pool made") == [("definitions", {"pool": "sftp", "slots": 2})]

    def test_share_it(self, directory: Directory):
        sync(directory, 'DAG("a", pool="sftp"); DAG("b", pool="sftp"); DAG("c")')
        assert dag("a").pool == dag("b").pool
        assert dag("c").pool is None

    def test_never_change_its_slots(self, directory: Directory):
        sync(directory, 'DAG("d", pool="sftp")')
        pools.change(Pool.objects.get(), slots=7, deed=ALICE, at=NOW)
        sync(directory, 'DAG("d", pool="sftp", description="changed")')
        assert Pool.objects.get().slots == 7

    def test_may_move_to_another_or_to_none(self, directory: Directory):
        sync(directory, 'DAG("d", pool="one")')
        sync(directory, 'DAG("d", pool="two")')
        assert dag("d").pool.name == "two"
        sync(directory, 'DAG("d")')
        assert dag("d").pool is None

    def test_that_are_refused_make_none(self, directory: Directory):
        assert not sync(directory, 'DAG("d", pool="sftp", retries=-1)').ok
        assert not Pool.objects.exists()

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ({"pool": ""}, "the name of a pool is text without white space around it, not ''"),
            ({"pool": " sftp"}, "the name of a pool is text"),
            ({"pool": 4}, "the name of a pool is text"),
            ({"pool": "x" * 251}, "the name of a pool has at most 250 printable characters"),
            ({"pool": "sftp", "pool_slots": 0}, "pool_slots is a whole number from 1 on, not 0"),
        ],
    )
    def test_are_checked(self, arguments, sentence):
        with pytest.raises(InvalidDefinition, match=sentence):
            terms_of(DAG("d", **arguments))

    def test_that_need_more_than_there_is_say_so(self, directory: Directory):
        pools.make("sftp", 2, deed=ALICE, at=NOW)
        report = sync(directory, 'DAG("d", pool="sftp", pool_slots=3); DAG("e", pool="sftp")')
        assert sentences("d") == [
            "each of its runs takes 3 slots of pool sftp, which has 2: none can start",
        ]
        assert report.troubles == (f"Dag d: {sentences('d')[0]}",)
        assert sentences("e") == []


class TestChange:
    def test_of_slots_is_told_in_the_journal(self):
        made = pools.make("sftp", 2, deed=ALICE, at=NOW)
        pools.change(made, slots=4, description="four logins", deed=ALICE, at=LATER)
        assert (made.slots, made.description, made.updated_at) == (4, "four logins", LATER)
        assert journal("pool changed") == [
            (
                "alice",
                {
                    "pool": "sftp",
                    "was": {"slots": 2, "description": ""},
                    "now": {"slots": 4, "description": "four logins"},
                },
            )
        ]

    def test_of_nothing_is_not(self):
        made = pools.make("sftp", 2, deed=ALICE, at=NOW)
        pools.change(made, slots=2, deed=ALICE, at=LATER)
        assert (made.updated_at, journal("pool changed")) == (NOW, [])

    def test_tells_dags_that_do_not_fit_any_more_and_those_that_do_again(self, directory: Directory):
        sync(directory, 'DAG("d", pool="sftp", pool_slots=3)')
        made = Pool.objects.get()
        pools.change(made, slots=2, deed=ALICE, at=NOW)
        assert sentences("d") == ["each of its runs takes 3 slots of pool sftp, which has 2: none can start"]
        pools.change(made, slots=0, deed=ALICE, at=NOW)
        assert sentences("d") == [], "it is closed, and not too small"
        pools.change(made, slots=3, deed=ALICE, at=NOW)
        assert sentences("d") == []

    @pytest.mark.parametrize("slots", [-1, True, 1.5, "4", 1_000_001])
    def test_to_what_cannot_be_is_refused(self, slots):
        made = pools.make("sftp", 2, deed=ALICE, at=NOW)
        with pytest.raises(InvalidPool, match="a pool has 0 to 1000000 slots"):
            pools.change(made, slots=slots, deed=ALICE, at=NOW)
        with pytest.raises(InvalidPool):
            pools.make("other", slots, deed=ALICE, at=NOW)

    def test_makes_no_second_one_of_a_name(self):
        pools.make("sftp", 2, deed=ALICE, at=NOW)
        with pytest.raises(PoolTaken, match="there is a pool 'sftp' already"):
            pools.make("sftp", 3, deed=ALICE, at=NOW)


class TestDelete:
    def test_takes_a_pool_away_that_nobody_names(self):
        pools.delete(pools.make("sftp", 2, deed=ALICE, at=NOW), deed=ALICE, at=NOW)
        assert not Pool.objects.exists()
        assert journal("pool deleted") == [("alice", {"pool": "sftp", "slots": 2})]

    def test_is_refused_while_a_dag_names_it(self, directory: Directory):
        sync(directory, 'DAG("d", pool="sftp")')
        with pytest.raises(PoolInUse, match="pool sftp is named by d"):
            pools.delete(Pool.objects.get(), deed=ALICE, at=NOW)

    def test_is_refused_while_a_run_has_slots_of_it(self, directory: Directory):
        sync(directory, 'DAG("d", pool="sftp")')
        [run] = newruns.create([NewRun(dag("d"), Type.MANUAL)], at=NOW)
        run = claims.claim(run.pk, worker="w", now=NOW)
        sync(directory, 'DAG("d")')
        with pytest.raises(PoolInUse, match="runs have slots of pool sftp"):
            pools.delete(Pool.objects.get(), deed=ALICE, at=NOW)
        claims.succeed(run, [], at=NOW)
        pools.delete(Pool.objects.get(), deed=ALICE, at=NOW)
        run.refresh_from_db()
        assert (run.state, run.pool) == ("success", None)


class TestCommand:
    def test_makes_changes_lists_and_deletes(self, capsys):
        for words in (["sftp", "2", "--description", "two logins"], ["sftp", "4"], ["empty", "0"]):
            assert program.main(["pools", "set", *words]) == 0
        capsys.readouterr()
        for words in ([], ["list"]):
            assert program.main(["pools", *words]) == 0
            assert capsys.readouterr().out.splitlines() == [
                "empty: 0 of 0 slots taken, 0 runs wait",
                "sftp: 0 of 4 slots taken, 0 runs wait",
            ]
        assert program.main(["pools", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)[1]
        assert told == {"name": "sftp", "slots": 4, "taken": 0, "waiting": 0, "description": "two logins"}
        assert program.main(["pools", "delete", "sftp", "--by", "bob"]) == 0
        assert list(Pool.objects.values_list("name", flat=True)) == ["empty"]
        assert {each.via for each in JournalEntry.objects.all()} == {"cli"}
        assert JournalEntry.objects.latest("pk").by == "bob"

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["set", "sftp", "--", "-1"], "a pool has 0 to 1000000 slots"),
            (["set", " ", "1"], "the name of a pool is text"),
            (["delete", "nothing"], "there is no pool 'nothing'"),
        ],
    )
    def test_says_what_cannot_be(self, capsys, words, sentence):
        assert program.main(["pools", *words]) == 1
        assert sentence in capsys.readouterr().err
