"""Parts that plug-ins bring, and the examples that are shipped."""

from dataclasses import dataclass
from datetime import date
from importlib.metadata import EntryPoint

import pytest

from scheduling.algebra import registry, specs
from scheduling.algebra.errors import CannotMap, InvalidDefinition
from scheduling.algebra.mappers import IdentityMapper, Mapper
from scheduling.algebra.policies import WaitPolicy
from scheduling.algebra.registry import find, kind_of, known, register
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import StartOfDayMapper, StartOfMonthMapper, StartOfWeekMapper
from scheduling.algebra.windows import DayWindow, PeriodWindow, Window
from scheduling.examples.plugins.business_days import BusinessMonthWindow, BusinessWeekWindow
from scheduling.examples.plugins.namespaces import StripNamespaceMapper


@pytest.fixture
def fresh(monkeypatch):
    """A registry that forgets what a test registers."""
    monkeypatch.setattr(
        registry, "_KNOWN", {kind: dict(classes) for kind, classes in registry._KNOWN.items()}
    )
    registry._load_plugins.cache_clear()
    yield
    registry._load_plugins.cache_clear()


class TestBuiltInParts:
    def test_are_known_by_name(self):
        assert find("DayWindow", "window") is DayWindow
        assert {"IdentityMapper", "RollupMapper", "SlidingWindowMapper"} <= set(known("mapper"))
        assert {"WaitForAll", "MinimumCount", "Deadline"} <= set(known("wait_policy"))

    def test_are_of_one_kind(self):
        assert kind_of(IdentityMapper) == "mapper"
        assert kind_of(DayWindow) == "window"
        with pytest.raises(InvalidDefinition, match="no part of a definition"):
            kind_of(dict)


@dataclass(frozen=True, slots=True)
class UpperCaseMapper(Mapper):
    suffix: str = ""

    def to_downstream(self, key):
        return (key.upper() + self.suffix,)


@dataclass(frozen=True, slots=True)
class HalfOfThem(WaitPolicy):
    def threshold(self, required):
        return required // 2

    def sentence(self):
        return "half"


class TestRegister:
    @pytest.mark.usefixtures("fresh")
    def test_makes_a_mapper_known(self):
        assert register(UpperCaseMapper) is UpperCaseMapper
        mapper = specs.load({"type": "UpperCaseMapper", "suffix": "!"}, "mapper")
        assert mapper.to_downstream("tw") == ("TW!",)
        assert specs.dump(mapper) == {"type": "UpperCaseMapper", "suffix": "!"}

    @pytest.mark.usefixtures("fresh")
    def test_makes_a_policy_known(self):
        register(HalfOfThem)
        spec = {
            "type": "RollupMapper",
            "upstream_mapper": {"type": "StartOfDayMapper"},
            "window": {"type": "DayWindow"},
        }
        mapper = specs.load({**spec, "wait_policy": {"type": "HalfOfThem"}}, "mapper")
        assert mapper.wait_policy.satisfied(12, 24)

    @pytest.mark.usefixtures("fresh")
    def test_twice_changes_nothing(self):
        register(UpperCaseMapper)
        register(UpperCaseMapper)

    @pytest.mark.usefixtures("fresh")
    def test_refuses_a_name_that_is_taken(self):
        impostor = dataclass(frozen=True)(type("DayWindow", (Window,), {"__module__": "elsewhere"}))
        with pytest.raises(InvalidDefinition, match="another window is already called DayWindow"):
            register(impostor)
        assert find("DayWindow", "window") is DayWindow

    def test_refuses_what_could_not_be_stored(self):
        class Loose(Window):
            pass

        @dataclass
        class Thawed(Window):
            pass

        for cls in (Loose, Thawed):
            with pytest.raises(InvalidDefinition, match="not a frozen dataclass"):
                register(cls)

    def test_refuses_what_is_no_part(self):
        with pytest.raises(InvalidDefinition, match="below none of Mapper, Window"):
            register(dict)


class TestEntryPoints:
    """What an installed package declares is known without an import."""

    def declare(self, monkeypatch, value):
        entry = EntryPoint(name="it", value=value, group="partitions.mappers")
        monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == entry.group else [])

    @pytest.mark.usefixtures("fresh")
    def test_make_parts_known(self, monkeypatch):
        self.declare(monkeypatch, "scheduling.examples.plugins.namespaces:StripNamespaceMapper")
        registry._KNOWN["mapper"].pop("StripNamespaceMapper", None)
        assert find("StripNamespaceMapper", "mapper") is StripNamespaceMapper

    @pytest.mark.usefixtures("fresh")
    @pytest.mark.parametrize(
        "value", ["no.such.module:Thing", "json:dumps", "scheduling.algebra.mappers:Nope"]
    )
    def test_that_are_broken_name_the_plug_in(self, monkeypatch, value):
        self.declare(monkeypatch, value)
        with pytest.raises(InvalidDefinition, match=f"the plug-in it .*{value}.* cannot be used"):
            find("Unheard", "mapper")

    @pytest.mark.usefixtures("fresh")
    def test_are_not_asked_for_what_is_known(self, monkeypatch):
        self.declare(monkeypatch, "no.such.module:Thing")
        assert find("IdentityMapper", "mapper") is IdentityMapper

    def test_have_a_group_for_each_kind(self):
        assert dict(registry.GROUPS) == {
            "mapper": "partitions.mappers",
            "window": "partitions.windows",
            "wait_policy": "partitions.wait_policies",
            "timetable": "partitions.timetables",
        }


class TestStripNamespaceMapper:
    def test_takes_the_namespace_off(self):
        mapper = StripNamespaceMapper("team_a")
        assert mapper.to_downstream("team_a/2026-03-10") == ("2026-03-10",)
        assert mapper.upstream_keys("2026-03-10") == ("team_a/2026-03-10",)
        assert mapper.is_one_to_one

    @pytest.mark.parametrize("key", ["team_b/2026-03-10", "2026-03-10", "team_a", "team_a/", "team_ab/x"])
    def test_leaves_other_namespaces_alone(self, key):
        with pytest.raises(CannotMap, match="not in the namespace team_a"):
            StripNamespaceMapper("team_a").to_downstream(key)

    def test_may_separate_otherwise(self):
        mapper = StripNamespaceMapper("team_a", "::")
        assert mapper.to_downstream("team_a::x/y") == ("x/y",)
        assert specs.load(specs.dump(mapper), "mapper") == mapper

    @pytest.mark.parametrize(("fields", "path"), [((), "namespace"), (("a", ""), "separator")])
    def test_needs_both(self, fields, path):
        with pytest.raises(InvalidDefinition) as refusal:
            StripNamespaceMapper(*(fields or ("",)))
        assert refusal.value.path == path

    def test_stands_in_front_of_other_mappers(self):
        spec = {
            "type": "ChainMapper",
            "mappers": [
                {"type": "StripNamespaceMapper", "namespace": "a"},
                {"type": "StartOfMonthMapper", "input_format": "%Y-%m-%d"},
            ],
        }
        assert specs.load(spec, "mapper").to_downstream("a/2026-03-10") == ("2026-03",)


class TestBusinessDays:
    """TC-22."""

    @pytest.mark.parametrize(("month", "days"), [("2026-02", 20), ("2026-03", 22)])
    def test_of_a_month_are_counted(self, month, days):
        mapper = RollupMapper(StartOfMonthMapper(input_format="%Y-%m-%d"), BusinessMonthWindow())
        assert len(mapper.required(month)) == days

    def test_leave_holidays_out(self):
        window = BusinessWeekWindow(holidays=[date(2026, 4, 3), "2026-04-06"])
        mapper = RollupMapper(StartOfWeekMapper(input_format="%Y-%m-%d"), window)
        assert mapper.required("2026-03-30 (W14)") == ("2026-03-30", "2026-03-31", "2026-04-01", "2026-04-02")
        assert mapper.required("2026-04-06 (W15)")[0] == "2026-04-07"

    def test_take_a_saturday_as_unexpected_or_not_at_all(self):
        exact = RollupMapper(StartOfMonthMapper(input_format="%Y-%m-%d"), BusinessMonthWindow())
        assert exact.to_downstream("2026-03-07") == ("2026-03",)
        assert "2026-03-07" not in exact.required("2026-03")
        members = RollupMapper(StartOfDayMapper(input_format="%Y-%m-%d"), BusinessMonthWindow())
        assert members.to_downstream("2026-03-07") == ()
        assert members.to_downstream("2026-03-09") == ("2026-03",)

    def test_are_stored_with_their_calendar(self):
        window = BusinessMonthWindow(holidays=(date(2026, 4, 3),), direction="backward")
        spec = specs.dump(window)
        assert spec == {"type": "BusinessMonthWindow", "direction": "backward", "holidays": ["2026-04-03"]}
        assert specs.load(spec, "window") == window

    @pytest.mark.parametrize("holidays", [["easter"], ["2026-13-01"], [5]])
    def test_need_real_dates(self, holidays):
        with pytest.raises(InvalidDefinition) as refusal:
            specs.load({"type": "BusinessMonthWindow", "holidays": holidays}, "window")
        assert refusal.value.path.startswith("holidays")

    def test_are_windows_of_time(self):
        assert issubclass(BusinessMonthWindow, PeriodWindow)
        assert BusinessMonthWindow().member_noun == "days"
