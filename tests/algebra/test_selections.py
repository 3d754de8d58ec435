"""Typed selections: how they are read, and where they cannot be."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.selections import Everything, InvalidSelection, One, Span, parse, quoted


class TestParse:
    def test_keys_and_ranges(self):
        assert parse("[2026-03-01...2026-03-10], 2026-04-01") == (
            (Span(One("2026-03-01", 1), One("2026-03-10", 14)),),
            (One("2026-04-01", 27),),
        )

    def test_open_ends(self):
        assert parse("[...b]") == ((Span(None, One("b", 4)),),)
        assert parse("[a...]") == ((Span(One("a", 1), None),),)
        assert parse("[...]") == ((Span(None, None),),)

    @pytest.mark.parametrize("text", ["a...b", "x, a...b", "a..."])
    def test_a_range_without_brackets_is_told_of_them(self, text):
        with pytest.raises(InvalidSelection, match=r"a range is written in brackets, \[first\.\.\.last\]"):
            parse(text)

    def test_segments(self):
        assert parse("tw|[2026-03-01...], *|x", "|") == (
            (One("tw"), Span(One("2026-03-01", 4), None, 3)),
            (Everything(20), One("x", 22)),
        )

    def test_without_a_delimiter_keys_have_no_segments(self):
        assert parse("tw|2026") == ((One("tw|2026"),),)

    def test_blanks_do_not_matter_outside_of_keys(self):
        assert parse("  [ a ... b ] ,c d ") == ((Span(One("a", 4), One("b", 10), 2),), (One("c d", 15),))

    def test_quotes_keep_everything(self):
        ((one,),) = parse(r'"Report, Q1 [2024] \"final\" \\ ..."')
        assert one.key == 'Report, Q1 [2024] "final" \\ ...'

    @pytest.mark.parametrize(
        ("text", "position", "said"),
        [
            ("", 0, "expected a key"),
            ("a,", 2, "expected a key"),
            ("a,,b", 2, "expected a key"),
            ("[a...b", 6, "expected ] at the end"),
            ("[a,b]", 2, "expected ... between"),
            ("[a b]", 4, "expected ... between"),
            ("a b]", 3, "expected a comma and not ']'"),
            ("2026-03-01...2026-03-02", 10, "a range is written in brackets"),
            ('x, "open', 3, "expected another quotation mark"),
            ('""', 0, "expected a key"),
            ("* a", 2, "expected a comma and not 'a'"),
            ("tw|", 3, "expected a key"),
        ],
    )
    def test_errors_point_at_the_character(self, text, position, said):
        with pytest.raises(InvalidSelection) as refusal:
            parse(text, "|")
        assert refusal.value.position == position
        assert said in str(refusal.value)
        assert f"(character {position + 1} of" in str(refusal.value)
        assert refusal.value.pointed() == f"{text}\n{' ' * position}^"

    @given(st.text(max_size=30))
    def test_any_key_can_be_quoted(self, key):
        if key:
            assert parse(quoted(key, "|"), "|") == ((One(key),),)

    @given(st.lists(st.sampled_from(list('ab,[]*"|.\\ ')), max_size=14).map("".join))
    def test_never_fails_in_another_way(self, text):
        with suppress(InvalidSelection):
            assert parse(text, "|")
