"""What a field of a request may hold, and the answers that say so."""

import json
from functools import reduce

import pytest

from partitions_site.api.errors import MOST_PROBLEMS, Invalid, problem
from partitions_site.api.fields import Decimal, Flag, Instant, JsonObject, OneOf, PartitionKey, Text, Whole
from partitions_site.api.forms import Form, read, read_value
from scheduling.masking import masked


class Everything(Form):
    text = Text(max_length=5)
    whole = Whole(min_value=1, max_value=9, required=False)
    decimal = Decimal(required=False)
    flag = Flag(required=False)
    instant = Instant(required=False)
    one_of = OneOf(choices=["queued", "success", "failed"], required=False)
    anything = JsonObject(required=False)
    key = PartitionKey(required=False, allow_null=True)


def problems(body, form=Everything):
    with pytest.raises(Invalid) as caught:
        read(form(data=body), ["body"])
    return caught.value.problems


def one(body):
    [found] = problems(body)
    return found["type"], found["loc"], found["msg"]


class TestForm:
    def test_gives_what_fits(self):
        assert read(Everything(data={"text": "abc", "whole": "7", "flag": "true"}), ["body"]) == {
            "text": "abc",
            "whole": 7,
            "flag": True,
        }

    @pytest.mark.parametrize(
        ("body", "kind", "loc", "msg"),
        [
            ({}, "missing", ["body", "text"], "Field required"),
            ({"text": None}, "string_type", ["body", "text"], "Input should be a valid string"),
            ({"text": 5}, "string_type", ["body", "text"], "Input should be a valid string"),
            (
                {"text": "abcdef"},
                "string_too_long",
                ["body", "text"],
                "String should have at most 5 characters",
            ),
            (
                {"text": "", "whole": "x"},
                "int_parsing",
                ["body", "whole"],
                "Input should be a valid integer, unable to parse string as an integer",
            ),
            ({"text": "", "whole": None}, "int_type", ["body", "whole"], "Input should be a valid integer"),
            (
                {"text": "", "whole": 0},
                "greater_than_equal",
                ["body", "whole"],
                "Input should be greater than or equal to 1",
            ),
            (
                {"text": "", "whole": 10},
                "less_than_equal",
                ["body", "whole"],
                "Input should be less than or equal to 9",
            ),
            (
                {"text": "", "decimal": "x"},
                "float_parsing",
                ["body", "decimal"],
                "Input should be a valid number, unable to parse string as a number",
            ),
            (
                {"text": "", "flag": "perhaps"},
                "bool_parsing",
                ["body", "flag"],
                "Input should be a valid boolean, unable to interpret input",
            ),
            (
                {"text": "", "instant": "soon"},
                "datetime_from_date_parsing",
                ["body", "instant"],
                "Input should be a valid datetime or date",
            ),
            (
                {"text": "", "one_of": "running"},
                "enum",
                ["body", "one_of"],
                "Input should be 'queued', 'success' or 'failed'",
            ),
            (
                {"text": "", "anything": None},
                "dict_type",
                ["body", "anything"],
                "Input should be a valid dictionary",
            ),
            (
                {"text": "", "anything": [1]},
                "dict_type",
                ["body", "anything"],
                "Input should be a valid dictionary",
            ),
            (
                {"text": "", "other": 1},
                "extra_forbidden",
                ["body", "other"],
                "Extra inputs are not permitted",
            ),
            (
                [],
                "model_attributes_type",
                ["body"],
                "Input should be a valid dictionary or object to extract fields from",
            ),
        ],
    )
    def test_says_in_airflows_words_what_does_not_fit(self, body, kind, loc, msg):
        assert one(body) == (kind, loc, msg)

    def test_tells_everything_at_once(self):
        found = {tuple(each["loc"]): each["type"] for each in problems({"whole": "x", "other": 1})}
        assert found == {
            ("body", "text"): "missing",
            ("body", "whole"): "int_parsing",
            ("body", "other"): "extra_forbidden",
        }

    def test_shows_what_was_given(self):
        assert problems({"whole": 1})[0]["input"] == {"whole": 1}
        assert problems({"text": 5})[0]["input"] == 5

    def test_does_not_repeat_secrets(self):
        assert problems({"password": "hunter2"})[0]["input"] == {"password": "***"}

    def test_a_list_says_which_item(self):
        with pytest.raises(Invalid) as caught:
            read(Everything(data=[{"text": "a"}, {"text": 5}, {}], many=True), ["body"])
        assert [each["loc"] for each in caught.value.problems] == [["body", 1, "text"], ["body", 2, "text"]]

    def test_a_long_list_of_problems_is_cut(self):
        assert (
            len(Invalid(problem("missing", ["body", at], "") for at in range(500)).problems) == MOST_PROBLEMS
        )


class TestPartitionKey:
    @pytest.mark.parametrize("key", ["tw|2026-03-10T09:00:00", "a b", "/{},", "日本", "é" * 250])
    def test_keeps_what_can_be_a_key_byte_for_byte(self, key):
        assert read(Everything(data={"text": "", "key": key}), ["body"])["key"] == key

    def test_may_be_left_out(self):
        assert read(Everything(data={"text": "", "key": None}), ["body"])["key"] is None

    @pytest.mark.parametrize(
        ("key", "kind"),
        [
            ("", "string_pattern_mismatch"),
            ("  ", "string_pattern_mismatch"),
            ("x" * 251, "string_too_long"),
            (" x", "partition_key"),
            ("x\n", "partition_key"),
            ("a\x07b", "partition_key"),
            (7, "string_type"),
        ],
    )
    def test_refuses_what_cannot(self, key, kind):
        assert one({"text": "", "key": key})[:2] == (kind, ["body", "key"])

    def test_says_why_in_a_sentence(self):
        assert "white space" in one({"text": "", "key": " x"})[2]


class TestInstant:
    @pytest.mark.parametrize(
        ("given", "written"),
        [
            ("2026-03-10T09:00:00Z", "2026-03-10T09:00:00Z"),
            ("2026-03-10T09:00:00+08:00", "2026-03-10T01:00:00Z"),
            ("2026-03-10T09:00:00", "2026-03-10T09:00:00Z"),
            ("2026-03-10", "2026-03-10T00:00:00Z"),
            ("2026-11-29T11:57:25.777057Z", "2026-11-29T11:57:25.777057Z"),
        ],
    )
    def test_is_written_in_utc_whatever_the_zone_of_the_site(self, settings, given, written):
        settings.TIME_ZONE = "Asia/Taipei"
        assert Instant().to_representation(read_value(Instant(), given, ["query", "at"])) == written

    @pytest.mark.parametrize(
        "given", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-13-01", ""]
    )
    def test_refuses_what_is_none(self, given):
        with pytest.raises(Invalid):
            read_value(Instant(), given, ["query", "at"])


class TestMasked:
    def test_hides_texts_under_secret_names_at_every_depth(self):
        given = {
            "rows": 5,
            "password": "x",
            "deep": [{"api_key": "y", "tokens": 412}],
            "DB_Secret": ["a", {"b": "c"}],
        }
        assert masked(given) == {
            "rows": 5,
            "password": "***",
            "deep": [{"api_key": "***", "tokens": 412}],
            "DB_Secret": ["***", {"b": "c"}],
        }

    def test_leaves_out_what_no_list_could_show(self):
        given = reduce(lambda value, _: {"a": [value]}, range(3000), {"password": "x"})
        assert "x" not in json.dumps(masked(given))

    def test_leaves_what_it_was_given_alone(self):
        given = {"password": "x"}
        masked(given)
        assert given == {"password": "x"}
