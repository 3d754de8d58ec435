"""What a Dag writes that its outlets are not expected to have is said before it writes anything."""

from textwrap import dedent

import pytest
from django.utils import timezone

from core.models import Dag
from scheduling import definitions
from scheduling.authoring.naming import may_name_keys

FILE = """
from scheduling.sdk import *

source = Asset("source")
{extra}

@asset(name="written", dag_id="writer", partitions={partitions}, schedule={schedule})
{body}
"""
BODY = "def written(self): pass"

DAILY = 'CronPartitionTimetable("0 0 * * *"{})'
DAYS = 'DailyPartitions("2026-01-01")'
HOURS = """
@asset(name="hours", schedule=CronPartitionTimetable("0 * * * *"))
def hours(self): pass
"""
ROLLUP = 'PartitionedAssetTimetable(assets=Asset("hours"), default_partition_mapper=StartOfDayMapper())'


@pytest.fixture
def told(db, tmp_path):
    """The sentences about keys that `writer` writes and `written` is not expected to have."""

    def told(partitions, schedule, extra="", body=BODY):
        path = tmp_path / "shop.py"
        text = FILE.format(partitions=partitions, schedule=schedule, extra=extra, body=body)
        path.write_text(dedent(text))
        definitions.sync([str(path)], at=timezone.now())
        problems = Dag.objects.get(dag_id="writer").problems
        return [each["sentence"] for each in problems if each["code"] == "unexpected-keys"]

    return told


class TestTicks:
    def test_in_another_form_are_named_with_what_mends_them(self, told):
        [sentence] = told(DAYS, DAILY.format(""))
        assert "to written, which is not in the definition there: '" in sentence
        assert sentence.count('with key_format="%Y-%m-%d" the timetable writes 20') == 1

    def test_are_expected_once_they_are_mended(self, told):
        assert told(DAYS, DAILY.format(', key_format="%Y-%m-%d"')) == []

    @pytest.mark.parametrize(
        ("partitions", "schedule"),
        [
            (
                'HourlyPartitions("2026-01-01")',
                'CronPartitionTimetable("*/5 * * * *", key_format="%Y-%m-%dT%H")',
            ),
            ('WeeklyPartitions("2026-01-01", end_offset=1)', DAILY.format(', key_format="%G-W%V"')),
            ('DynamicPartitions("shops")', "PartitionedAtRuntime()"),
            (DAYS, "PartitionedAtRuntime()"),
            (DAYS, "None"),
        ],
    )
    def test_that_fit_or_are_not_known_are_passed_over(self, told, partitions, schedule):
        form = partitions.replace("end_offset=1", 'end_offset=1, key_format="%G-W%V"')
        form = form.replace(
            'HourlyPartitions("2026-01-01"', 'HourlyPartitions("2026-01-01", key_format="%Y-%m-%dT%H"'
        )
        assert told(form, schedule) == []

    def test_on_days_that_are_left_out_are_named(self, told):
        [sentence] = told(
            'DailyPartitions("2026-01-01", exclusions=["0 0 * * 6"])', DAILY.format(', key_format="%Y-%m-%d"')
        )
        assert "change either of them" in sentence

    def test_of_one_segment_are_not_keys_of_two(self, told):
        two = f'MultiPartitions({{"city": StaticPartitions(["sf"]), "day": {DAYS}}})'
        [sentence] = told(two, DAILY.format(""))
        assert "let the code name its keys with add_partitions" in sentence

    def test_after_the_end_of_the_dag_never_come(self, told):
        ended = 'CronPartitionTimetable("0 0 * * *"), end_date="2026-01-05"'
        assert told(DAYS, ended) == []


class TestConsumers:
    def test_write_what_their_mappers_make(self, told):
        [sentence] = told('MonthlyPartitions("2026-01-01")', ROLLUP, HOURS)
        assert "it writes keys of the form %Y-%m-%d, such as 2026-03-10 to written" in sentence

    def test_that_write_what_is_expected_are_passed_over(self, told):
        assert told(DAYS, ROLLUP, HOURS) == []


class TestCodeThatNamesKeys:
    """What it writes nobody knows before: that the run's own key does not fit is no fault then."""

    @pytest.mark.parametrize(
        "body",
        [
            "def written(self, outlet_events): outlet_events[self].add_partitions('2026-03')",
            "def written(self, context): [context['outlet_events'][self].add_partitions(k) for k in 'ab']",
        ],
    )
    @pytest.mark.parametrize("schedule", [ROLLUP, DAILY.format("")])
    def test_is_passed_over(self, told, body, schedule):
        assert told('MonthlyPartitions("2026-01-01")', schedule, HOURS, body) == []

    def test_is_not_what_only_describes_its_event(self, told):
        body = "def written(self, outlet_events): outlet_events[self].extra = {}"
        assert len(told('MonthlyPartitions("2026-01-01")', ROLLUP, HOURS, body)) == 1

    def test_may_be_what_has_no_code_to_read(self):
        assert may_name_keys(print)
