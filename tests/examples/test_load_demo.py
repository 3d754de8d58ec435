from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from core.models import DagRun, JournalEntry

pytestmark = pytest.mark.django_db


def load_demo(*arguments: str) -> str:
    out = StringIO()
    call_command("load_demo", *arguments, stdout=out)
    return out.getvalue()


@pytest.fixture(autouse=True)
def here(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    settings.DEFINITIONS = ["scheduling.examples"]


def test_replays_what_was_asked_for_and_says_what_came_of_it():
    said = load_demo("--from", "2010-03-13", "--days", "2", "--city", "seattle")
    assert "2/2 days of a city" in said
    assert "ingest_temperatures: 2 runs succeeded, 0 held" in said
    assert (
        "daily_temperature: 1 runs succeeded, 1 held\n  seattle|2010-03-14: waiting on 1 of 23: hour 03"
        in said
    )
    assert DagRun.objects.filter(dag__dag_id="ingest_temperatures").count() == 2
    assert list(DagRun.objects.filter(partition_key=None).order_by("pk").values_list("note", flat=True)) == [
        *("seattle, 2010-03-13", "seattle, 2010-03-14")
    ]
    entry = JournalEntry.objects.get(event="demo replayed")
    assert (entry.by, entry.via, entry.extra) == ("load_demo", "cli", {"parts": 2})


def test_a_second_replay_runs_again_what_came_anew():
    load_demo("--from", "2010-03-12", "--days", "1")
    said = load_demo("--from", "2010-03-12", "--days", "1")
    assert "daily_temperature: 4 runs succeeded, 0 held" in said
    assert "all_cities_temperature: 2 runs succeeded, 0 held" in said


def test_ends_with_the_year():
    load_demo("--from", "2010-12-31", "--days", "9", "--city", "sf")
    assert DagRun.objects.filter(dag__dag_id="ingest_temperatures").count() == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--from", "March"], "write a date of 2010 like 2010-03-08, not 'March'"),
        (["--days", "0"], "a number of days from 1 on, not '0'"),
        (["--city", "atlantis"], "invalid choice: 'atlantis'"),
    ],
)
def test_says_what_can_be_asked_for(arguments, sentence):
    with pytest.raises(CommandError, match=sentence):
        load_demo(*arguments)


def test_needs_the_examples(settings):
    settings.DEFINITIONS = []
    with pytest.raises(CommandError, match=r"load the definitions scheduling\.examples first"):
        load_demo("--days", "1")
