"""What may be a key, and how composite keys are joined and split."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduling.algebra.errors import InvalidDefinition, InvalidKey
from scheduling.algebra.keys import (
    MAX_KEY_LENGTH,
    distinct_keys,
    join_segments,
    split_segments,
    validate_delimiter,
    validate_key,
)

ODD_KEYS = [
    "Report, Q1 2024.pdf",
    '{"k1":"v1","k2":"v2"}',
    "my|key",
    "a/b?c#d&e=%2F",
    "Zürich",
    "東京",
    "…/./..",
    "a b",
    "0",
    "null",
    "🙂",
    "x" * MAX_KEY_LENGTH,
    "é" * MAX_KEY_LENGTH,
]


class TestValidateKey:
    @pytest.mark.parametrize("key", ODD_KEYS)
    def test_keeps_any_key_as_it_is(self, key):
        assert validate_key(key) is key

    @pytest.mark.parametrize(
        ("key", "words"),
        [
            ("", "cannot be empty"),
            ("x" * 251, "has 251"),
            (" us", "white space"),
            ("us ", "white space"),
            ("\u3000us", "white space"),
            ("a\nb", "control characters"),
            ("a\x00b", "control characters"),
            ("a\x7fb", "control characters"),
            ("a\x85b", "control characters"),
            ("a\ud800b", "control characters"),
            (None, "not NoneType"),
            (5, "not int"),
            (["us"], "not list"),
            (True, "not bool"),
        ],
    )
    def test_refuses_what_cannot_be_a_key_with_a_sentence(self, key, words):
        with pytest.raises(InvalidKey, match=words):
            validate_key(key)

    def test_counts_characters_not_bytes(self):
        assert validate_key("東" * 250)
        with pytest.raises(InvalidKey):
            validate_key("東" * 251)


class TestSegments:
    @pytest.mark.parametrize(
        ("segments", "key"),
        [
            (("tw", "2026-03-10"), "tw|2026-03-10"),
            (("a|b", "c"), "a\\|b|c"),
            (("a", "b|c"), "a|b\\|c"),
            (("a\\", "b"), "a\\\\|b"),
            (("a\\b", "c"), "a\\b|c"),
            (("a\\|b", "c"), "a\\\\\\|b|c"),
            (("", "x"), "|x"),
            (("one",), "one"),
        ],
    )
    def test_are_joined_so_that_they_can_be_split(self, segments, key):
        assert join_segments(segments) == key
        assert split_segments(key) == segments

    def test_of_different_tuples_make_different_keys(self):
        assert join_segments(("a|b", "c")) != join_segments(("a", "b|c"))

    def test_are_kept_where_a_backslash_escapes_nothing(self):
        assert split_segments("C:\\data|x") == ("C:\\data", "x")

    def test_may_be_joined_by_any_text(self):
        assert split_segments("us::2026::x", "::") == ("us", "2026", "x")
        assert join_segments(("a::b", "c"), "::") == "a\\::b::c"
        assert split_segments("a\\::b::c", "::") == ("a::b", "c")

    @given(
        st.lists(st.text(max_size=6), min_size=1, max_size=4),
        st.sampled_from(["|", "::", "#", "/", "||", "a"]),
    )
    def test_come_back_whatever_they_hold(self, segments, delimiter):
        assert split_segments(join_segments(segments, delimiter), delimiter) == tuple(segments)

    @given(
        st.lists(st.text(alphabet="ab|:\\", max_size=5), min_size=1, max_size=4),
        st.sampled_from(["|", "||", "|:", "::", "a|a", ":|:|:"]),
    )
    @settings(max_examples=500)
    @example(["|", ""], "||")
    @example(["|||", "\\"], "||")
    def test_come_back_though_they_look_like_the_delimiter(self, segments, delimiter):
        assert split_segments(join_segments(segments, delimiter), delimiter) == tuple(segments)

    @given(
        st.lists(st.text(alphabet="ab|\\", max_size=4), min_size=1, max_size=3),
        st.lists(st.text(alphabet="ab|\\", max_size=4), min_size=1, max_size=3),
    )
    def test_never_share_a_key(self, some, others):
        assert (join_segments(some) == join_segments(others)) == (some == others)

    @given(st.text(alphabet="ab|c", max_size=12))
    def test_of_plain_keys_join_to_the_same_key(self, key):
        assert join_segments(split_segments(key)) == key


class TestValidateDelimiter:
    @pytest.mark.parametrize("delimiter", ["|", "::", "/", " ", "→"])
    def test_takes_printable_text(self, delimiter):
        assert validate_delimiter(delimiter) == delimiter

    @pytest.mark.parametrize("delimiter", ["", "\\", "a\\", "\n", None, 1, ["|"]])
    def test_refuses_the_rest(self, delimiter):
        with pytest.raises(InvalidDefinition, match="cannot join segments"):
            validate_delimiter(delimiter)


class TestDistinctKeys:
    def test_keeps_the_order_and_drops_repetitions(self):
        assert distinct_keys(["us", "eu", "us"], "a list") == ("us", "eu")

    def test_takes_any_iterable(self):
        assert distinct_keys((key for key in "ab"), "a list") == ("a", "b")

    @pytest.mark.parametrize("value", ["us,eu", {"us": 1}, None, 5])
    def test_refuses_what_is_no_list(self, value):
        with pytest.raises(InvalidDefinition, match="takes a list of keys"):
            distinct_keys(value, "a window")

    @pytest.mark.parametrize("value", [[""], ["us", " "], [1], [None], [["us"]], ["x" * 251]])
    def test_refuses_what_cannot_be_a_key(self, value):
        with pytest.raises(InvalidDefinition, match="a window cannot take"):
            distinct_keys(value, "a window")

    def test_refuses_nothing(self):
        with pytest.raises(InvalidDefinition, match="at least one key"):
            distinct_keys([], "a window")
