import pytest

from scheduling.algebra.differences import ABSENT, Difference, differences

DAY = {"type": "RollupMapper", "window": {"type": "DayWindow"}}
EVERY_HOUR = {"type": "CronTriggerTimetable", "cron": "0 * * * *"}
WHEN_SALES = {
    "type": "PartitionedAssetTimetable",
    "assets": {"asset": "sales"},
    "default_partition_mapper": DAY | {"upstream_mapper": {"type": "StartOfDayMapper"}},
}


class TestDifferences:
    @pytest.mark.parametrize(
        ("was", "now", "expected"),
        [
            (DAY, dict(DAY), []),
            (DAY, DAY | {"n": 1}, ["n: not set → 1"]),
            (DAY | {"n": 1}, DAY | {"n": 2}, ["n: 1 → 2"]),
            (DAY, DAY | {"window": {"type": "DayWindow", "direction": "backward"}},
             ['window.direction: not set → "backward"']),
            (DAY, DAY | {"window": {"type": "HourWindow"}},
             ["window: DayWindow() → HourWindow()"]),
            ({"all": [{"asset": "a"}, {"asset": "b"}]}, {"all": [{"asset": "a"}, {"asset": "c"}]},
             ["all of it: a & b → a & c"]),
            ({"keys": ["a"]}, {"keys": ["a", "b"]}, ['keys: ["a"] → ["a", "b"]']),
            (ABSENT, DAY, ["all of it: not set → RollupMapper(window=DayWindow())"]),
            (EVERY_HOUR, WHEN_SALES, ["runs: every hour (UTC) → when all hours of sales have arrived"]),
            (EVERY_HOUR, None, ["runs: every hour (UTC) → only when somebody triggers it"]),
            (EVERY_HOUR, {"type": "GoneTimetable", "n": 1}, ["runs: every hour (UTC) → GoneTimetable(n=1)"]),
            ({"n": 1}, {"n": True}, ["n: 1 → true"]),
        ],
    )  # fmt: skip
    def test_are_told_with_their_path(self, was, now, expected):
        assert [each.sentence() for each in differences(was, now)] == expected

    def test_what_one_does_not_say_is_absent_not_null(self):
        assert differences({"a": None}, {}) == (Difference("a", None, ABSENT),)
        assert differences({}, {"a": None}) == (Difference("a", ABSENT, None),)

    def test_conditions_differ_whole_and_are_told_as_they_are_typed(self):
        was, now = {"asset": "a"}, {"all": [{"asset": "a"}, {"ref_name": "late orders"}]}
        [one] = differences({"assets": was}, {"assets": now})
        assert one.sentence() == 'assets: a → a & ref("late orders")'

    def test_a_long_value_is_cut(self):
        [found] = differences({"keys": ["x" * 200]}, {"keys": ["y"]})
        assert found.sentence().startswith('keys[0]: "xxx')
        assert "…" in found.sentence()
        assert len(found.sentence()) < 120
