"""How a line of a log is written: when, and what, each character of it."""

import pytest
from django.utils import timezone

from core.models import LogLine
from partitions_site.templatetags.logs import BRIEF, log_line
from tests.engine.world import NOW


def shown(text: str, *, brief: bool = False) -> str:
    return log_line(LogLine(at=NOW, text=text), brief)


def test_it_is_nothing_but_the_time_and_the_text():
    assert shown("  two  words ") == (
        '<li><time datetime="2026-03-11T09:10:00+00:00">09:10:00</time><span>  two  words </span></li>'
    )


def test_the_time_is_that_of_the_installation():
    with timezone.override("Europe/Ljubljana"):
        assert '<time datetime="2026-03-11T10:10:00+01:00">10:10:00</time>' in shown("x")


@pytest.mark.parametrize("brief", [False, True])
def test_keys_stay_whole_and_what_looks_like_markup_is_text(brief):
    said = shown("<b> 2010-03-14 2010-03-15", brief=brief)
    keys = [f'<span class="whole">2010-03-{day}</span>' for day in (14, 15)]
    assert f"<span>&lt;b&gt; {' '.join(keys)}</span>" in said


def test_a_long_line_is_cut_only_where_there_is_little_room():
    assert "x" * 1000 in shown("x" * 1000)
    assert f"<span>{'x' * (BRIEF - 1)}…</span>" in shown("x" * 1000, brief=True)
