"""`partita backfill` and `manage.py dynamic_keys`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from core.models import Backfill, BackfillPartition, JournalEntry
from partitions_site.cli import program
from scheduling import dynamic
from scheduling.algebra import specs
from scheduling.algebra.partitions import DynamicPartitions
from tests.backfills.play import counts, daily, drive, listener, producer
from tests.engine.world import asset, emit

pytestmark = pytest.mark.django_db


def run(*words):
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue().splitlines()


def backfill(*words):
    out = StringIO()
    assert program.main(["backfill", *words], out) == 0
    return out.getvalue().splitlines()


@pytest.fixture
def refused(capsys):
    def refused(*words):
        """The sentence with which it refuses, and exits with 1 or, for wrong words, with 2."""
        try:
            status = program.main(["backfill", *words])
        except SystemExit as end:
            status = end.code
        assert status in (1, 2)
        return capsys.readouterr().err

    return refused


@pytest.fixture
def load(db):
    return producer(writes=daily(end="2026-03-11").name)


class TestPlan:
    def test_says_what_would_run_and_writes_nothing(self, load):
        emit("days", "2026-03-01")
        first, last = backfill("plan", "load", "--select", "[2026-03-01...2026-03-04]")
        assert first == "load: 3 keys: 2026-03-02 … 2026-03-04; 1 left out: it has data"
        assert last.startswith("plan 20")
        assert not Backfill.objects.exists()

    def test_may_name_every_key(self, load):
        assert backfill("plan", "load", "--key", "2026-03-02", "--key", "2026-03-01", "--keys") == [
            "load 2026-03-01",
            "load 2026-03-02",
        ]

    def test_says_why_there_is_nothing(self, load):
        emit("days", "2026-03-01")
        assert backfill("plan", "load", "--key", "2026-03-01")[-1].startswith("there is nothing to backfill")

    def test_offers_what_is_missing(self, db):
        daily("as"), daily("bs")
        producer("first", "as")
        listener("second", "as", "bs")
        lines = backfill("plan", "second", "--key", "2026-03-01")
        assert "with --with-upstream, first 1 missing key of first" in lines
        both = backfill("plan", "second", "--key", "2026-03-01", "--with-upstream", "--keys")
        assert both == ["first 2026-03-01", "second 2026-03-01"]

    def test_by_dates_and_states(self, load):
        emit("days", "2026-03-02")
        lines = backfill(
            "plan",
            "load",
            "--from",
            "2026-03-01",
            "--to",
            "2026-03-03T00:00+00:00",
            "--states",
            "missing",
            "--keys",
        )
        assert lines == ["load 2026-03-01", "load 2026-03-03"]

    def test_points_at_the_character_that_is_wrong(self, load, refused):
        sentence = refused("plan", "load", "--select", "[2026-03-05...2026-03-01]")
        assert sentence.splitlines()[-2:] == ["[2026-03-05...2026-03-01]", "^"]

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["plan", "nope"], "no Dag is called nope"),
            (["plan", "load", "--from", "2026-03-01"], "give both --from and --to"),
            (["plan", "load", "--from", "March", "--to", "2026-03-01"], "write a date like"),
            (["plan", "load", "--keys-per-run", "0"], "from 1 on, or all"),
            (["plan", "load", "--keys-per-run", "all"], "takes one key"),
            (["plan", "load", "--max-active-runs", "0"], "from 1 on"),
            (["show", "4711"], "there is no backfill 4711"),
            (["cancel", "4711"], "there is no backfill 4711"),
        ],
    )
    def test_refuses_in_a_sentence(self, load, refused, words, sentence):
        assert sentence in refused(*words)
        assert not Backfill.objects.exists()


class TestStart:
    def test_of_what_was_shown(self, load):
        token = backfill("plan", "load")[-1].removeprefix("plan ")
        [line] = backfill("start", "load", "--plan", token, "--by", "carol", "--reason", "disk is back")
        row = Backfill.objects.get()
        assert line == f"backfill {row.pk}: running, 10 open"
        entry = JournalEntry.objects.get(event="backfill started")
        assert (entry.by, entry.via, entry.reason) == ("carol", "cli", "disk is back")

    def test_of_what_has_changed_is_refused(self, load, refused):
        token = backfill("plan", "load")[-1].removeprefix("plan ")
        emit("days", "2026-03-05")
        assert "the plan has changed" in refused("start", "load", "--plan", token)

    def test_with_every_option(self, db):
        producer(writes=daily(end="2026-03-11").name, max_keys_per_run=None)
        options = ["--newest-first", "--keys-per-run", "all", "--max-active-runs", "3", "--title", "repair"]
        backfill(
            "start", "load", *options, "--conf", '{"fast": true}', "--reprocess", "completed", "--chained"
        )
        row = Backfill.objects.get()
        assert (row.order, row.keys_per_run, row.max_active_runs, row.title) == ("newest", None, 3, "repair")
        assert (row.conf, row.reprocess, row.is_chained) == ({"fast": True}, "completed", True)


class TestLookingAndSteering:
    @pytest.fixture
    def row(self, load):
        backfill("start", "load", "--select", "[2026-03-01...2026-03-03]")
        return Backfill.objects.get()

    def test_list(self, row):
        assert backfill("list") == [f"{row.pk}  running  load  [2026-03-01...2026-03-03]  3 open"]
        assert backfill("list", "--dag", "load") == backfill("list")
        producer("other", "others")
        assert backfill("list", "--dag", "other") == ["There are no such backfills."]

    def test_show_names_what_failed(self, row):
        drive(row, at=row.created_at, fail=["2026-03-02"])
        first, *more = backfill("show", str(row.pk))
        assert first.endswith("UTC: failed, 2 done, 1 failed")
        assert more == ["  load: 2 done, 1 failed", "    2026-03-02: boom: no disk"]

    def test_show_names_the_limit_that_holds_it(self, row):
        row.targets.get().dag.__class__.objects.update(is_paused=True)
        assert backfill("show", str(row.pk))[1] == "  load: 3 open (Dag load is paused)"

    def test_pause_resume_cancel(self, row):
        pk = str(row.pk)
        assert backfill("pause", pk) == [f"backfill {pk}: paused, 3 open"]
        assert backfill("resume", pk) == [f"backfill {pk}: running, 3 open"]
        assert backfill("cancel", pk) == [f"backfill {pk}: cancelled, 3 cancelled"]
        assert backfill("resume", pk) == [f"backfill {pk}: running, 3 open"]
        assert BackfillPartition.objects.filter(state="ready").count() == 3

    def test_retry(self, row, refused):
        drive(row, at=row.created_at, fail=["2026-03-02"])
        assert backfill("retry", str(row.pk)) == [f"backfill {row.pk}: running, 2 done, 1 open"]
        drive(row, at=row.created_at)
        assert counts(row) == {"planned": 3, "done": 3}
        assert "nothing to run again" in refused("retry", str(row.pk))


class TestDynamicKeys:
    @pytest.fixture(autouse=True)
    def stores(self, db):
        return asset("sales", partitions=specs.dump(DynamicPartitions("stores")))

    def test_are_added_listed_and_removed(self):
        assert run("dynamic_keys", "add", "stores", "berlin", "aachen") == ["2 keys added, 2 there now"]
        assert run("dynamic_keys", "list", "stores") == ["berlin", "aachen"]
        assert run("dynamic_keys", "remove", "stores", "berlin", "x") == ["1 key removed, 1 there now"]
        assert dynamic.keys_of("stores") == ("aachen",)

    def test_say_who_did_it(self):
        run("dynamic_keys", "add", "stores", "berlin", "--by", "carol", "--reason", "opened")
        entry = JournalEntry.objects.get()
        assert (entry.by, entry.via, entry.reason) == ("carol", "cli", "opened")

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["add", "shops", "x"], "no dynamic partitions are called 'shops'"),
            (["add", "stores"], "name the keys to add"),
            (["add", "stores", " x"], "white space"),
        ],
    )
    def test_refuse_in_a_sentence(self, words, sentence):
        with pytest.raises(CommandError, match=sentence):
            run("dynamic_keys", *words)
