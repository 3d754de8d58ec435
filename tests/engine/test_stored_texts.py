"""Texts that come from outside are stored without what no database keeps, wherever they end up."""

import logging
from dataclasses import dataclass

import pytest

from core.models import DagRun, HeldRun, JournalEntry, MappingProblem, Sensor
from scheduling import claims, newruns, retries, runs
from scheduling.algebra import registry
from scheduling.algebra.mappers import IdentityMapper
from scheduling.newruns import NewRun
from scheduling.runs import Ask
from tests.engine.world import ALICE, IDENTITY, NOW, RUNTIME, consumer, dag, emit, fired, start, turn
from tests.sdk import watching

pytestmark = pytest.mark.django_db
BAD, KEPT = "a\0b\ud800c", "a\ufffdb?c"


@dataclass(frozen=True)
class Wordy(IdentityMapper):
    """A plug-in that fails in its own words."""

    asks: bool = False

    def to_downstream(self, key):
        if not self.asks:
            raise RuntimeError(BAD)
        return (key,)

    def required(self, key, known=()):
        raise RuntimeError(BAD)


@pytest.fixture(autouse=True)
def no_log_in_reports(caplog):
    """What is logged here, half characters and all, cannot be sent from one process of tests to another."""
    caplog.set_level(logging.CRITICAL, logger="scheduling")


@pytest.fixture(autouse=True)
def plugin(monkeypatch):
    monkeypatch.setitem(registry._KNOWN["mapper"], "Wordy", Wordy)


def claimed(**fields):
    return start(runs.trigger(dag("d", RUNTIME, **fields), Ask("k"), deed=ALICE, at=NOW))


def test_why_a_run_failed():
    run = claimed()
    retries.fail(run, BAD, at=NOW)
    assert DagRun.objects.get().error == KEPT


def test_why_a_run_is_tried_again():
    run = claimed(retries=1)
    assert retries.fail(run, BAD, at=NOW)
    assert DagRun.objects.get().error == KEPT
    assert JournalEntry.objects.get(event="run failed, will be retried").extra["error"] == KEPT


def test_why_a_key_was_given_up():
    made = dag("d", RUNTIME)
    [run] = newruns.create([NewRun(made, runs.Type.MANUAL, partition_keys=["k", "l"])], at=NOW)
    claims.succeed(start(run), [], at=NOW, failed_keys={"k": BAD})
    assert DagRun.objects.get().failed_keys == {"k": KEPT}


def test_why_a_mapper_failed():
    consumer("wordy", {"a": {"type": "Wordy"}})
    consumer("copy", {"a": IDENTITY})
    emit("a", "k")
    turn()
    assert MappingProblem.objects.get().sentence.endswith(f"RuntimeError: {KEPT}")
    assert fired("copy") == ["k"]


def test_why_a_held_run_cannot_be_judged():
    consumer("wordy", {"a": {"type": "Wordy", "asks": True}, "b": IDENTITY})
    emit("a", "k")
    turn()
    assert HeldRun.objects.get().sentence.endswith(f"RuntimeError: {KEPT}")


@pytest.mark.parametrize("body", ["look.say({text!r})", "raise ValueError({text!r})"])
def test_what_a_sensor_says(directory, body):
    watching.sync(directory, f"@sensor\ndef s(look): {body.format(text=BAD)}")
    watching.turn()
    assert watching.one("s").sentence.endswith(KEPT)


@pytest.mark.parametrize("body", ["look.say('x' * 1_000_000)", "raise ValueError('x' * 1_000_000)"])
def test_no_more_of_what_a_sensor_says_than_is_read(directory, body):
    watching.sync(directory, f"@sensor\ndef s(look): {body}")
    watching.turn()
    sentence = Sensor.objects.get().sentence
    assert len(sentence) < 2100
    assert sentence.endswith("xxx…")
