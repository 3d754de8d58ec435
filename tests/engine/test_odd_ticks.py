"""A timetable may make keys of any form: none of them stops its Dag, or the runs that come after."""

from datetime import timedelta

import pytest

from core.models import DagRun
from scheduling import ticks, turns
from tests.engine.world import NOW, dag

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("%Y/%m/%d", ["2026/03/11", "2026/03/12"]),
        ("%Y-%m-%d (W%V)", ["2026-03-11 (W11)", "2026-03-12 (W11)"]),
        ("日 %Y-%m-%d", ["日 2026-03-11", "日 2026-03-12"]),
        ("a b?c=%Y-%m-%d#", ["a b?c=2026-03-11#", "a b?c=2026-03-12#"]),
        ("%Y-%m-%dT%H:%M:%S%z", ["2026-03-11T00:00:00+0000", "2026-03-12T00:00:00+0000"]),
    ],
)
def test_keys_of_any_form_are_made_and_run(form, expected):
    cron = {"type": "CronPartitionTimetable", "cron": "0 0 * * *", "key_format": form}
    dag("odd", cron, ticked_until=NOW - timedelta(hours=10), catchup="all", max_active_runs=5)
    ticks.advance(now=NOW + timedelta(days=1))
    keys = list(DagRun.objects.order_by("tick_at").values_list("partition_key", flat=True))
    assert keys == expected
    assert len(turns.dispatch(now=NOW + timedelta(days=1))) == 2
