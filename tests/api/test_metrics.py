"""`/metrics` is what Prometheus can read, and tells the truth."""

import re
from datetime import timedelta
from math import inf, isnan, nan

import pytest
from django.utils import timezone

from core.models import Alert, AssetEvent, DagRun, HeldRun, Pulse
from partitions_site import roles
from partitions_site.api import metrics
from scheduling import health, runs
from scheduling.gauges import Gauge, Sample
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, IDENTITY, consumer, emit, turn

pytestmark = pytest.mark.django_db

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (NaN|[+-]Inf|[-+]?[0-9.]+(?:e[-+]?[0-9]+)?)")
LABEL = re.compile(rf'({NAME})="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)')


def parse(text):
    """Values by name and labels, as the exposition format has them.

    :raises AssertionError: for a line that is none, or a sample of something that was not announced.
    """
    assert text.endswith("\n")
    found, announced, explained = {}, {}, set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            assert name not in explained, line
            explained.add(name)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name in explained
            assert name not in announced, line
            announced[name] = kind
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            name, labels, value = match.groups()
            pairs = LABEL.findall(labels or "")
            assert "".join(f'{key}="{text}",' for key, text in pairs).rstrip(",") == (labels or "")
            assert announced[name] == "gauge"
            assert (name, *pairs) not in found, line
            found[name, *(text for _, text in pairs)] = float(value.replace("Inf", "inf"))
    return found


@pytest.fixture
def ask(api):
    def ask(client=api):
        answer = client.get("/metrics")
        assert answer.status_code == 200
        assert answer["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return parse(answer.content.decode())

    return ask


class TestNumbers:
    def test_an_empty_installation(self, ask):
        found = ask()
        assert found["partita_beat_age_seconds",] == inf
        assert found["partita_worker_age_seconds",] == inf
        assert {
            value for name, value in found.items() if "age" not in name[0] and "build" not in name[0]
        } == {0}
        assert found["partita_build_info", "0.1.0"] == 1

    def test_open_runs_by_state_and_those_that_wait(self, ask):
        """Those that have ended may be millions, and a scrape comes every few seconds."""
        now = timezone.now()
        made = world.dag("load", {"type": "PartitionedAtRuntime"})
        for key, state in [("a", "queued"), ("b", "failed"), ("c", "success"), ("d", "success")]:
            run = runs.trigger(made, Ask(key), deed=ALICE, at=now)
            DagRun.objects.filter(pk=run.pk).update(state=state)
        runs.trigger(made, Ask("later", run_after=now + timedelta(hours=1)), deed=ALICE, at=now)
        found = ask()
        counts = {name[1]: value for name, value in found.items() if name[0] == "partita_runs"}
        assert counts == {"queued": 2, "running": 0}
        assert found["partita_queue_depth",] == 1

    def test_events_that_nobody_has_counted(self, ask):
        emit("a", "x", "y", at=timezone.now() - timedelta(minutes=5))
        found = ask()
        assert found["partita_events_unmapped",] == 2
        assert 300 <= found["partita_oldest_unmapped_event_age_seconds",] < 360
        AssetEvent.objects.update(routed_at=timezone.now())
        found = ask()
        assert found["partita_events_unmapped",] == found["partita_oldest_unmapped_event_age_seconds",] == 0

    def test_held_runs(self, ask):
        consumer("meet", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "x", "y", "z")
        turn()
        HeldRun.objects.filter(partition_key="x").update(late_at=timezone.now())
        HeldRun.objects.filter(partition_key="y").update(judge_after=timezone.now(), verdict="broken")
        row = HeldRun.objects.get(partition_key="z")
        Alert.objects.create(held_run=row, body={}, created_at=timezone.now(), send_after=timezone.now())
        found = ask()
        assert found["partita_held_runs", "waiting"] == 2
        assert found["partita_held_runs", "broken"] == 1
        assert found["partita_held_runs", "ready"] == 0
        assert found["partita_held_runs_late",] == 1
        assert found["partita_held_runs_due",] == 1
        assert found["partita_alerts_unsent",] == 1

    def test_processes(self, ask):
        now = timezone.now()
        health.pulse("beat", Pulse.Kind.BEAT, now=now - timedelta(seconds=40))
        health.pulse("one", Pulse.Kind.WORKER, now=now - timedelta(seconds=40))
        health.pulse("two", Pulse.Kind.WORKER, now=now)
        found = ask()
        assert 40 <= found["partita_beat_age_seconds",] < 100
        assert 0 <= found["partita_worker_age_seconds",] < 60
        assert found["partita_workers_alive",] == 1

    def test_costs_the_same_however_much_there_is(self, api, django_assert_max_num_queries):
        consumer("meet", {"a": IDENTITY, "b": IDENTITY})
        emit("a", *map(str, range(50)))
        turn()
        with django_assert_max_num_queries(14):
            api.get("/metrics")


class TestDoor:
    def test_is_shut_to_whoever_says_nothing(self, anyone):
        assert anyone.get("/metrics").status_code == 401

    def test_is_open_to_a_token_for_reading(self, api, anyone):
        made = api.post("/auth/tokens", {"name": "prometheus", "scope": "read", "days": 30}).json()
        anyone.credentials(HTTP_AUTHORIZATION=f"Bearer {made['token']}")
        assert parse(anyone.get("/metrics").content.decode())

    def test_is_open_to_viewers(self, ask, api_of):
        assert ask(api_of(roles.VIEWER))

    def test_is_open_to_anybody_where_the_site_says_so(self, ask, anyone, settings):
        settings.METRICS_OPEN = True
        assert ask(anyone)
        anyone.credentials(HTTP_AUTHORIZATION="Bearer nonsense")
        assert ask(anyone)

    def test_nothing_can_be_sent_to_it(self, api):
        assert api.post("/metrics", {}).status_code == 405


class TestFormat:
    @pytest.mark.parametrize(
        ("value", "written"),
        [
            (0, "0"),
            (3.0, "3"),
            (0.25, "0.25"),
            (inf, "+Inf"),
            (-inf, "-Inf"),
            (nan, "NaN"),
            (1e22, str(10**22)),
        ],
    )
    def test_numbers(self, value, written):
        text = metrics.written([Gauge("g", "words", (Sample(value),))])
        assert text.splitlines()[-1] == f"g {written}"
        read = parse(text)["g",]
        assert read == value or isnan(read)

    def test_labels_and_words_are_escaped(self):
        text = metrics.written([Gauge("g", "two\nlines \\", (Sample(1, {"l": 'a"b\\c\nd'}),))])
        assert text.splitlines() == ["# HELP g two\\nlines \\\\", "# TYPE g gauge", 'g{l="a\\"b\\\\c\\nd"} 1']
        assert parse(text) == {("g", 'a\\"b\\\\c\\nd'): 1}
