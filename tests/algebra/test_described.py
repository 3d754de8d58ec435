from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date, timedelta
from enum import StrEnum
from typing import Literal

import pytest

from scheduling.algebra import registry, specs
from scheduling.algebra.described import describe, describe_all
from scheduling.algebra.differences import ABSENT
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.mappers import IdentityMapper, Mapper
from scheduling.algebra.windows import DayWindow, Window

KINDS = tuple(registry.BASES)


class Shade(StrEnum):
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True)
class PluginMapper(Mapper):
    """Upper case, and more.

    `shout` puts marks behind it. More of `shout` is louder.

    :param prefix: what stands before every key,
        on two lines.
    """

    prefix: str
    shout: int = field(default=1, metadata={"minimum": 0, "maximum": 9})
    loud: bool = False
    share: float = 0.5
    shade: Shade = Shade.LIGHT
    manner: Literal["plain", "grand"] = "plain"
    wait: timedelta = timedelta(minutes=5)
    until: date | None = None
    words: tuple[str, ...] = ()
    holidays: tuple[date, ...] = ()
    inner: Mapper = field(default_factory=IdentityMapper, metadata={"help": "Comes after it."})
    parts: tuple[Mapper, ...] = ()
    window: Window | None = None
    table: Mapping[str, int] = field(default_factory=dict)

    def to_downstream(self, key: str) -> tuple[str, ...]:
        return (self.prefix + key.upper() + "!" * self.shout,)


@pytest.fixture
def plugin(monkeypatch):
    monkeypatch.setitem(registry._KNOWN["mapper"], "PluginMapper", PluginMapper)
    return {each.name: each for each in describe("PluginMapper", "mapper").fields}


def built_in(kind):
    """Those of ours: what other tests and examples register is known to this process for good."""
    home = "scheduling.algebra."
    return [told for told in describe_all(kind) if registry.find(told.type, kind).__module__.startswith(home)]


class TestEveryClass:
    @pytest.mark.parametrize("kind", KINDS)
    def test_is_described_with_every_field_that_a_spec_has(self, kind):
        for told in built_in(kind):
            cls = registry.find(told.type, kind)
            names = [specs.name_of(each.name) for each in fields(cls) if each.init]
            assert sorted(each.name for each in told.fields) == sorted(names)
            assert told.kind == kind

    @pytest.mark.parametrize("kind", KINDS)
    def test_says_what_it_is(self, kind):
        assert [told.type for told in built_in(kind) if not told.sentence.rstrip(":").endswith(".")] == []

    @pytest.mark.parametrize("kind", KINDS)
    def test_takes_its_own_defaults(self, kind):
        """What a form shows for a field that is left alone means the same as to leave it out."""
        for told in built_in(kind):
            if any(each.is_required for each in told.fields):
                continue
            shown = {each.name: each.default for each in told.fields if each.default is not None}
            assert specs.load({"type": told.type, **shown}, kind) == specs.load({"type": told.type}, kind)

    def test_is_not_known_by_another_kind(self):
        with pytest.raises(InvalidDefinition, match="a mapper belongs here"):
            describe("DayWindow", "mapper")

    def test_never_takes_anything_else_than_json_where_it_is_not_known(self):
        """What is written here for each built-in class, so that a new field is looked at once."""
        unknown = {
            (told.type, each.name)
            for kind in KINDS
            for told in built_in(kind)
            for each in told.fields
            if each.form == "json"
        }
        assert unknown == {
            *((f"Cron{name}Timetable", "run_immediately") for name in ("Trigger", "Partition")),
            ("CronRuntimePartitionTimetable", "run_immediately"),
            ("TimePartitions", "exclusions"),
        }


class TestFields:
    def test_of_a_rollup(self):
        told = describe("RollupMapper", "mapper")
        assert told.sentence == "One downstream key needs the members of a window."
        assert [(each.name, each.form, each.kind) for each in told.fields] == [
            ("upstream_mapper", "part", "mapper"),
            ("window", "part", "window"),
            ("wait_policy", "part", "wait_policy"),
            ("max_downstream_keys", "whole", ""),
        ]
        assert told.field("wait_policy").default == {"type": "WaitForAll"}
        assert told.field("window").is_required
        assert told.field("nothing") is None

    def test_of_a_window(self):
        direction = describe("DayWindow", "window").field("direction")
        assert direction.choices == ("forward", "backward", "following")
        assert direction.default == DayWindow().direction.value
        assert direction.help.startswith("Whether a key names the period that starts at it")

    def test_that_are_a_part_or_a_word(self):
        then = describe("Deadline", "wait_policy").field("then")
        assert (then.form, then.types, then.choices) == ("part", ("MinimumCount",), ("fire", "cancel"))

    def test_of_a_schedule(self):
        told = describe("PartitionedAssetTimetable", "timetable")
        assert [each.form for each in told.fields] == [
            *("condition", "part", "pairs", "choice", "span", "span"),
        ]
        assert told.field("mapper_config").pair_names == ("asset", "mapper")
        assert all(each.help for each in told.fields)
        assert told.field("settle").default == 600

    def test_of_dimensions(self):
        dimensions = describe("MultiPartitions", "partitions").field("dimensions")
        assert (dimensions.form, dimensions.pair_names) == ("pairs", ("name", "partitions"))


class TestAPlugin:
    def test_is_described_like_any_other(self, plugin):
        assert {name: each.form for name, each in plugin.items()} == {
            "prefix": "text",
            "shout": "whole",
            "loud": "flag",
            "share": "number",
            "shade": "choice",
            "manner": "choice",
            "wait": "span",
            "until": "date",
            "words": "texts",
            "holidays": "texts",
            "inner": "part",
            "parts": "parts",
            "window": "part",
            "table": "json",
            "max_downstream_keys": "whole",
        }
        assert describe("PluginMapper", "mapper").sentence == "Upper case, and more."
        assert "PluginMapper" in [told.type for told in describe_all("mapper")]

    def test_says_in_its_own_words_what_its_fields_are(self, plugin):
        assert plugin["prefix"].help == "What stands before every key, on two lines."
        assert plugin["shout"].help == "`shout` puts marks behind it. More of `shout` is louder."
        assert plugin["inner"].help == "Comes after it."
        assert plugin["share"].help == ""
        assert plugin["max_downstream_keys"].help.startswith("More downstream keys than this")

    def test_says_what_its_fields_may_be(self, plugin):
        assert (plugin["shout"].minimum, plugin["shout"].maximum) == (0, 9)
        assert (plugin["shade"].choices, plugin["shade"].default) == (("light", "dark"), "light")
        assert plugin["manner"].choices == ("plain", "grand")
        assert (plugin["until"].is_optional, plugin["until"].default) == (True, None)
        assert plugin["window"].is_optional
        assert plugin["prefix"].default is ABSENT
        assert (plugin["wait"].default, plugin["inner"].default) == (300, {"type": "IdentityMapper"})
