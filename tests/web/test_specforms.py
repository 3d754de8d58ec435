"""Specs as nested forms, there and back."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from partitions_site.web.formspecs import MOST_LEVELS, ROOT, read
from partitions_site.web.specforms import draw, point
from scheduling.algebra import registry, specs
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.mappers import Mapper
from tests.web.listening.forms import sent

LISTENING = {
    "type": "PartitionedAssetTimetable",
    "assets": {"all": [{"asset": "a"}, {"ref_uri": "s3://b"}]},
    "default_mapper": {
        "type": "RollupMapper",
        "upstream_mapper": {"type": "StartOfDayMapper", "timezone": "Asia/Taipei"},
        "window": {"type": "DayWindow", "direction": "backward"},
        "wait_policy": {"type": "Deadline", "after": 21600, "then": {"type": "MinimumCount", "n": 20}},
    },
    "late": "hold",
    "late_after": 5400,
}
MAPPERS = [
    {"type": "IdentityMapper"},
    {"type": "AllowedKeyMapper", "allowed_keys": ["tw", "jp|x", "ü, y"]},
    {"type": "FixedKeyMapper", "downstream_key": "all"},
    {"type": "StartOfWeekMapper", "week_start": "sunday", "max_downstream_keys": 5},
    {"type": "ProductMapper", "mappers": [{"type": "IdentityMapper"}, {"type": "StartOfDayMapper"}]},
    {
        "type": "ChainMapper",
        "mappers": [
            {"type": "StartOfHourMapper"},
            {"type": "StartOfDayMapper", "input_format": "%Y-%m-%dT%H"},
        ],
    },
    {
        "type": "RollupMapper",
        "upstream_mapper": {"type": "FixedKeyMapper", "downstream_key": "all"},
        "window": {"type": "SegmentWindow", "segments": ["us", "ap"]},
        "wait_policy": {"type": "Deadline", "after": 60, "then": "cancel"},
    },
    {"type": "SlidingWindowMapper", "before": 3, "wait_policy": {"type": "MinimumCount", "n": -1}},
    {
        "type": "FanOutMapper",
        "upstream_mapper": {"type": "StartOfDayMapper"},
        "window": {"type": "DayWindow"},
        "downstream_mapper": {"type": "StartOfHourMapper", "output_format": "%Y%m%d%H"},
    },
]


def again(spec, kind):
    return read(dict(sent(draw(spec, kind))), kind)


def same(spec, kind):
    assert specs.load(again(spec, kind), kind) == specs.load(spec, kind)


class TestThereAndBack:
    @pytest.mark.parametrize("mapper", MAPPERS, ids=lambda each: each["type"])
    def test_every_mapper_is_what_it_was(self, mapper):
        same(mapper, "mapper")
        same(LISTENING | {"default_mapper": mapper}, "timetable")

    def test_a_whole_schedule_is_what_it_was(self):
        same(LISTENING, "timetable")
        pairs = [{"asset": {"ref_uri": "s3://b"}, "mapper": mapper} for mapper in MAPPERS]
        same(LISTENING | {"mapper_config": pairs[:3]}, "timetable")

    @given(st.lists(st.sampled_from(MAPPERS), min_size=1, max_size=4), st.integers(0, 10**6))
    def test_mappers_within_mappers_are_what_they_were(self, mappers, settle):
        spec = LISTENING | {
            "default_mapper": {"type": "ProductMapper", "mappers": mappers},
            "settle": settle,
            "mapper_config": [{"asset": {"asset": f"x{n}"}, "mapper": one} for n, one in enumerate(mappers)],
        }
        try:
            specs.load(spec, "timetable")
        except InvalidDefinition:
            return  # some do not go together: a form does not make that better
        same(spec, "timetable")

    def test_what_is_left_at_its_default_is_not_said(self):
        assert again({"type": "StartOfDayMapper"}, "mapper") == {"type": "StartOfDayMapper"}
        assert again(LISTENING, "timetable").keys() == LISTENING.keys()

    def test_of_dimensions(self):
        spec = {
            "type": "MultiPartitions",
            "dimensions": [
                {"name": "region", "partitions": {"type": "StaticPartitions", "keys": ["tw", "jp"]}},
                {"name": "kind", "partitions": {"type": "StaticPartitions", "keys": ["x"]}},
            ],
        }
        same(spec, "partitions")


class TestAPlugin:
    @pytest.fixture(autouse=True)
    def plugin(self, monkeypatch):
        @dataclass(frozen=True)
        class ShoutingMapper(Mapper):
            """Puts marks behind a key.

            :param marks: how many.
            """

            marks: int = 1
            is_polite: bool = False
            inner: Mapper | None = None

            def to_downstream(self, key: str) -> tuple[str, ...]:
                return (key + ("." if self.is_polite else "!") * self.marks,)

        monkeypatch.setitem(registry._KNOWN["mapper"], "ShoutingMapper", ShoutingMapper)

    def test_is_offered_drawn_and_read_without_a_line_written_for_it(self):
        form = draw(LISTENING | {"default_mapper": {"type": "ShoutingMapper", "marks": 3}})
        [mapper] = [node for node in form.walk() if node.path == f"{ROOT}.default_mapper"]
        assert ("ShoutingMapper", "ShoutingMapper") in mapper.types
        assert mapper.sentence == "Puts marks behind a key."
        marks, is_polite, inner, _ = mapper.parts
        assert (marks.form, marks.value, marks.help) == ("whole", "3", "How many.")
        assert [words for _, words in is_polite.types] == ["no", "yes", "no"]
        assert (inner.form, inner.value) == ("part", "")

    def test_is_what_it_was(self):
        same({"type": "ShoutingMapper", "marks": 2, "is_polite": True}, "mapper")
        same({"type": "ShoutingMapper", "inner": {"type": "ShoutingMapper", "marks": 9}}, "mapper")


class TestDrawing:
    def test_shows_spans_as_people_write_them(self):
        values = {node.path: node.value for node in draw(LISTENING).walk()}
        assert values[f"{ROOT}.late_after"] == "1h30m"
        assert values[f"{ROOT}.default_mapper.wait_policy.after"] == "6h"
        assert values[f"{ROOT}.settle"] == ""

    def test_offers_one_more_place_in_a_list(self):
        form = draw(MAPPERS[4], "mapper")
        [mappers] = [node for node in form.walk() if node.form == "parts"]
        assert [each.label for each in mappers.parts] == ["1", "2", "one more"]

    def test_offers_words_beside_parts(self):
        form = draw(LISTENING["default_mapper"]["wait_policy"], "wait_policy")
        [then] = [node for node in form.walk() if node.path == f"{ROOT}.then"]
        assert [value for value, _ in then.types] == ["MinimumCount", "fire", "cancel"]

    @pytest.mark.parametrize(
        "spec",
        [
            None,
            "text",
            [],
            {},
            {"type": "Nothing"},
            {"type": ["list"]},
            {"type": "RollupMapper", "window": "text", "upstream_mapper": 5, "wait_policy": []},
            {"type": "ProductMapper", "mappers": {"a": 1}},
            {"type": "ProductMapper", "mappers": [None, 5, "x"]},
            {"type": "AllowedKeyMapper", "allowed_keys": {"a": 1}},
        ],
    )
    def test_of_what_cannot_be_goes_as_far_as_it_can(self, spec):
        draw(spec, "mapper")
        draw({"type": "PartitionedAssetTimetable", "mapper_config": spec, "assets": spec, "settle": spec})

    def test_of_mappers_without_end_has_an_end(self):
        spec = {"type": "IdentityMapper"}
        for _ in range(100):
            spec = {"type": "ChainMapper", "mappers": [spec]}
        assert len(list(draw(spec, "mapper").walk())) < 200


class TestReading:
    def test_of_another_kind_keeps_what_both_have(self):
        form = dict(sent(draw({"type": "StartOfDayMapper", "timezone": "Asia/Taipei"}, "mapper")))
        form[f"{ROOT}.type"] = "SlidingWindowMapper"
        assert read(form, "mapper") == {"type": "SlidingWindowMapper", "timezone": "Asia/Taipei"}

    def test_of_a_list_passes_over_what_was_taken_out(self):
        form = dict(sent(draw(MAPPERS[4], "mapper")))
        form[f"{ROOT}.mappers[0].type"] = ""
        assert read(form, "mapper")["mappers"] == [{"type": "StartOfDayMapper"}]

    def test_of_what_is_no_number_is_refused_by_the_class(self):
        form = {f"{ROOT}.type": "MinimumCount", f"{ROOT}.n": "many"}
        with pytest.raises(InvalidDefinition, match="takes a whole number of keys, not 'many'"):
            specs.load(read(form, "wait_policy"), "wait_policy")

    @given(
        st.dictionaries(
            st.sampled_from([f"{ROOT}.type", f"{ROOT}.mappers[0].type", f"{ROOT}.n", "x"]), st.text()
        )
    )
    def test_of_anything_is_something(self, form):
        read(form, "mapper")


class TestPointing:
    @pytest.mark.parametrize(
        ("path", "at"),
        [
            ("default_mapper.window.direction", "default_mapper.window.direction"),
            ("default_mapper.type", "default_mapper"),
            ("default_mapper.nothing", "default_mapper"),
            ("assets.all[0]", "assets"),
        ],
    )
    def test_finds_the_nearest_thing(self, path, at):
        form = draw(LISTENING)
        assert point(form, path, "wrong")
        assert [node.path for node in form.walk() if node.problem] == [f"{ROOT}.{at}"]

    def test_says_if_there_is_none(self):
        assert not point(draw(LISTENING), "", "wrong")
        assert not point(draw(LISTENING), "type", "wrong")


def test_names_of_fields_are_names_in_html():
    assert {node.id for node in draw(LISTENING).walk()} >= {"spec-default_mapper-window-direction"}
    assert MOST_LEVELS > 4
