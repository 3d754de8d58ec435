"""Who owes a key, as lists of held runs say it."""

from datetime import UTC, datetime, timedelta

import pytest

from core.models import Asset, Dag, DagRun, HeldRun, Sensor
from partitions_site.templatetags import owing
from scheduling.algebra.conditions import AssetLeaf
from scheduling.expected import Expected, Owed
from tests.web.reading import Page

NOON = datetime(2026, 3, 10, 12, 0, 0, tzinfo=UTC)
NEVER = Expected(None, "cannot come: <no> such key", is_never=True)


def owed(**fields):
    usual = {"leaf": AssetLeaf("a"), "asset": Asset(name="a"), "key": "<k>", "expected": NEVER}
    return Owed(**usual | fields)


def text_of(html):
    return Page(f"<p>{html}</p>").text


def told(**fields):
    return text_of(owing.owers(owed(**fields), NOON))


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "made by load : not tried yet"),
        ({"attempt": DagRun(pk=3, state="failed")}, "made by load : failed"),
        ({"held": HeldRun(pk=4)}, "made by load : held"),
        (
            {"dags": (Dag(dag_id="load", is_paused=True), Dag(dag_id="b"))},
            "made by load paused , b : not tried yet",
        ),
    ],
)
def test_dags_that_make_it(fields, words):
    assert told(**{"dags": (Dag(dag_id="load"),)} | fields) == words


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"is_paused": True, "problem": "gone"}, "paused"),
        ({"problem": "gone", "failures": 2}, "cannot look"),
        ({"failures": 2}, "failed 2 times"),
        ({"looked_at": NOON - timedelta(hours=3)}, "looked 3 h ago"),
    ],
)
def test_sensors_that_report_it(fields, words):
    assert told(sensors=(Sensor(name="new files", **fields),)) == f"reported by sensor new files {words}"


def test_nobody():
    assert told() == "no Dag writes a: whoever reports it owes it"
    assert told(asset=None) == "nothing defines a"


def test_nothing_of_it_is_markup():
    shown = owing.owed(owed(), NOON, with_key=True)
    assert "&lt;k&gt;" in shown
    assert "cannot come: &lt;no&gt; such key</span>" in shown


def test_when_it_was_expected():
    at = Expected(NOON - timedelta(hours=1), "as it usually comes")
    shown = owing.owed(owed(expected=at), NOON)
    assert 'title="as it usually comes"' in shown
    assert "2026-03-10 11:00:00 UTC , 1 h ago · no Dag writes a" in text_of(shown)
    later = owing.owed(owed(expected=Expected(NOON + timedelta(hours=1), "then")), NOON)
    assert "13:00:00 UTC · no Dag" in text_of(later)
