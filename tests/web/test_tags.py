from datetime import UTC, datetime, timedelta

import pytest
from django.urls import clear_script_prefix, set_script_prefix
from django.utils import timezone
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from partitions_site.templatetags import lines, markup, screens, verdicts
from scheduling.algebra.conditions import AssetLeaf
from scheduling.algebra.progress import Progress
from scheduling.board import Look

NOON = datetime(2026, 3, 10, 12, 0, 0, tzinfo=UTC)


class Drawn:
    def __html__(self):
        return "<b>&</b>"


class TestMarkup:
    VALUES = ("<a href='x'>&\"", SafeString("<b>&</b>"), gettext_lazy("<Yes>"), Drawn(), 7, None, {"<": "&"})

    def test_is_what_django_makes_of_it(self):
        form = "<p>" + "{}" * len(self.VALUES) + "</p>"
        assert markup.markup(form, *self.VALUES) == format_html(form, *self.VALUES)
        named = {f"v{at}": value for at, value in enumerate(self.VALUES)}
        form = "".join(f"{{{name}}}" for name in named)
        assert markup.markup(form, **named) == format_html(form, **named)

    def test_is_not_escaped_again(self):
        assert conditional_escape(markup.markup("<p>{}</p>", "&")) == "<p>&amp;</p>"
        assert conditional_escape(markup.joined("<wbr>", ["a", "<"])) == "a<wbr>&lt;"

    def test_an_address_begins_as_the_site_does(self):
        assert markup.address("held_run", 7) == "/held/7"
        set_script_prefix("/partita/")
        try:
            assert markup.address("held_run", 7) == "/partita/held/7"
        finally:
            clear_script_prefix()


class TestInstants:
    def test_in_a_sentence_follow_the_zone_as_all_others_do(self):
        shown = screens.instants("settling: fires at 2026-03-10 12:00:00 UTC if nothing more comes")
        assert shown == f"settling: fires at {screens.when(NOON)} if nothing more comes"
        assert screens.instants("from 2026-03-10 12:00 UTC on") == f"from {screens.when(NOON)} on"

    def test_nothing_else_is_one(self):
        for sentence in ("2026-03-10 12:00", "key 2026-03-10", "2026-13-45 12:00 UTC", "12:00:00 UTC"):
            assert screens.instants(sentence) == lines.whole(sentence)

    def test_the_rest_is_no_markup(self):
        shown = screens.instants("<b>2026-03-10 12:00:00 UTC & more")
        assert shown == f"&lt;b&gt;{screens.when(NOON)} &amp; more"


class TestWhen:
    def test_an_instant_has_its_zone(self):
        shown = screens.when(NOON)
        assert ">2026-03-10 12:00:00 <small>UTC</small>" in shown
        assert 'datetime="2026-03-10T12:00:00Z"' in shown

    def test_in_another_zone_the_title_gives_it_in_utc(self):
        with timezone.override("Europe/Ljubljana"):
            shown = screens.when(NOON)
        assert ">2026-03-10 13:00:00 <small>CET</small>" in shown
        assert 'title="Tuesday 10 March 2026, 12:00:00 UTC"' in shown

    def test_a_zone_without_a_name_is_given_by_its_offset(self):
        with timezone.override("America/Sao_Paulo"):
            assert "<small>UTC-03</small>" in screens.when(NOON)

    def test_what_never_was_is_said(self):
        assert screens.when(None) == "never"


class TestAge:
    @pytest.mark.parametrize(
        ("gone", "words"),
        [
            (timedelta(seconds=3), "just now"),
            (timedelta(seconds=61), "1 min ago"),
            (timedelta(hours=3, minutes=12, seconds=59), "3 h 12 min ago"),
            (timedelta(hours=5), "5 h ago"),
            (timedelta(days=2, hours=1), "2 d 1 h ago"),
            (timedelta(seconds=-20), "within a minute"),
            (timedelta(minutes=-5, seconds=-20), "in 5 min"),
        ],
    )
    def test_is_said_to_the_minute(self, gone, words):
        assert screens.age(NOON, NOON + gone) == words

    def test_stays_the_same_for_a_minute(self):
        """A part whose every second is another text would never be a 304."""
        said = {screens.age(NOON, NOON + timedelta(minutes=7, seconds=second)) for second in range(60)}
        assert said == {"7 min ago"}


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (timedelta(milliseconds=86), "86 ms"),
        (timedelta(seconds=5), "5 s"),
        (timedelta(minutes=2, seconds=5), "2 min 5 s"),
        (timedelta(hours=1), "1 h"),
        (timedelta(days=1, seconds=5), "1 d"),
        (None, ""),
    ],
)
def test_a_span_is_said_in_its_two_largest_units(length, words):
    assert screens.span(length) == words


class TestState:
    @pytest.mark.parametrize("state", ["success", "queued", "unreachable", "settling", "held", "missing"])
    def test_has_its_word_beside_its_picture(self, state):
        assert f">{state}</span>" in screens.state(state)

    def test_borrows_the_picture_of_a_partition(self):
        assert 'class="state s-failed"' in screens.state("broken")
        assert screens.picture("success") == Look.MATERIALIZED.letter

    def test_states_of_runs_and_keys_differ_in_their_squares(self):
        states = ("success", "queued", "running", "failed", "cancelled", "skipped", "held", "ready")
        assert len({screens.picture(each) for each in states}) == len(states)

    def test_words_are_no_markup(self):
        assert "<b>" not in screens.state("failed", "<b>")


class TestCounts:
    def test_long_numbers_are_parted(self):
        assert screens.thousands(1234567) == "1\u202f234\u202f567"

    @pytest.mark.parametrize(
        ("count", "noun", "words"),
        [(1, "run", "1 run"), (0, "run", "0 runs"), (2, "query,queries", "2 queries")],
    )
    def test_nouns_agree(self, count, noun, words):
        assert screens.some(count, noun) == words

    def test_a_share_is_written_as_svg_takes_it(self):
        assert screens.percent(1 / 3) == "33.33%"


class TestText:
    def test_a_traceback_is_said_by_its_last_line(self):
        assert screens.last_line("Traceback:\n  File\nValueError: no\n") == "ValueError: no"
        assert screens.last_line("") == ""

    def test_stored_values_read_as_sentences(self):
        assert screens.plain([1, "b"]) == "1, b"
        assert screens.plain(True) == "yes"
        assert screens.said("settled_held_run") == "settled held run"
        assert screens.as_json({"city": "Žalec"}) == '{"city": "Žalec"}'


class TestMembers:
    @staticmethod
    def progress(count, received, needed=None):
        keys = tuple(f"{number:03}" for number in range(count))
        return Progress(
            AssetLeaf("a"), required=keys, received=keys[:received], needed=needed or count, noun="hours"
        )

    def test_each_required_key_has_a_place(self):
        drawn = verdicts.members(self.progress(24, 21))
        assert 'aria-label="21 of 24 hours received"' in drawn
        assert drawn.count("M") == 24

    def test_received_ones_are_high_and_missing_ones_low(self):
        drawn = verdicts.members(self.progress(3, 2))
        assert 'class="in" d="M0 2h8v12h-8zM10 2h8v12h-8z"' in drawn
        assert 'class="out" d="M20 10h8v4h-8z"' in drawn

    def test_many_share_places_which_are_full_when_all_are_there(self):
        drawn = verdicts.members(self.progress(365, 364))
        assert drawn.count("h8v12") + drawn.count("h8v4") <= verdicts.MOST_MEMBERS
        assert drawn.count("h8v4") == 1

    def test_a_mark_shows_how_many_are_enough(self):
        assert 'class="need" d="M199 0' in verdicts.members(self.progress(24, 3, needed=20))
        assert "need" not in verdicts.members(self.progress(24, 3))

    def test_where_any_key_is_enough_there_is_one_place(self):
        assert 'aria-label="0 of 1 keys received"' in verdicts.members(Progress(AssetLeaf("a")))
