"""Plans of backfills with many keys, and how long they may take."""

import pytest

from core.models import DagRun
from partitions_site.web import planning
from scheduling.algebra import specs
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.partitions import StaticPartitions
from scheduling.algebra.time_shorthands import DailyPartitions, HourlyPartitions
from tests.backfills import play
from tests.backfills.play import begin, execute, producer, turn
from tests.engine.world import asset, emit
from tests.web.planned import plan_of
from tests.web.reading import read

pytestmark = pytest.mark.django_db


class TestManyKeys:
    def test_a_long_plan_is_paged(self, visitor, load):
        page = plan_of(visitor, selection="[2026-03-01...2026-03-31]")
        assert page.text.count("will run") == 29
        daily = asset("long", partitions=specs.dump(DailyPartitions("2020-01-01", end="2022-01-01")))
        producer("write_long", writes=daily.name)
        page = plan_of(visitor, dag="write_long", selection="", each="yes")
        assert len(page.all("tr")) == 201
        assert "Keys 1 to 200 of 731" in page.text
        assert "Keys 201 to 400" in read(visitor.get(page.links["Next"])).text

    def test_neighbours_with_the_same_fate_are_one_line_of_a_long_plan(self, visitor):
        asset("long", partitions=specs.dump(DailyPartitions("2020-01-01", end="2022-01-01")))
        producer("write_long", writes="long")
        emit("long", "2021-03-01", *(f"2021-06-0{day}" for day in range(1, 8)))
        page = plan_of(visitor, dag="write_long", selection="")
        assert [row.text for row in page.all("tr")][1:] == [
            "2020-01-01 to 2021-02-28 425 keys will run",
            "2021-03-01 skipped: it has data",
            "2021-03-02 to 2021-05-31 91 keys will run",
            "2021-06-01 to 2021-06-07 7 keys skipped: it has data",
            "2021-06-08 to 2021-12-31 207 keys will run",
        ]
        every = read(visitor.get(page.links["Every key by itself"]))
        assert len(every.all("tr")) == 201
        assert "one line" not in every.text
        skipped = read(visitor.get(page.links["8 skipped"]))
        assert len(skipped.all("tr")) == 1 + 8

    @pytest.fixture
    def cities(self):
        hours = HourlyPartitions("2026-03-01", end="2026-03-08")
        definition = MultiPartitions({"city": StaticPartitions(["sf", "seattle"]), "hour": hours})
        asset("weather", partitions=specs.dump(definition))
        return producer("measure", writes="weather")

    def test_a_line_of_composite_keys_is_of_one_row_and_has_no_gap(self, visitor, cities):
        selection = "*|2026-03-01T03, *|[2026-03-02T00...2026-03-04T23]"
        page = plan_of(visitor, dag="measure", selection=selection)
        assert [row.text for row in page.all("tr")][1:] == [
            "sf|2026-03-01T03 will run",
            "seattle|2026-03-01T03 will run",
            "sf|2026-03-02T00 to sf|2026-03-04T23 72 keys will run",
            "seattle|2026-03-02T00 to seattle|2026-03-04T23 72 keys will run",
        ]
        page = plan_of(visitor, dag="measure", selection=selection, order="newest")
        assert [row.text for row in page.all("tr")][1:3] == [
            "seattle|2026-03-04T23 to seattle|2026-03-02T00 72 keys will run",
            "sf|2026-03-04T23 to sf|2026-03-02T00 72 keys will run",
        ]

    def test_a_line_of_what_runs_goes_past_nothing_that_does_not(self, visitor, cities):
        emit("weather", "sf|2026-03-02T12")
        page = plan_of(visitor, dag="measure", selection="*|[2026-03-02T00...2026-03-04T23]", show="run")
        assert [row.text for row in page.all("tr")][1:] == [
            "sf|2026-03-02T00 to sf|2026-03-02T11 12 keys will run",
            "seattle|2026-03-02T00 to seattle|2026-03-04T23 72 keys will run",
            "sf|2026-03-02T13 to sf|2026-03-04T23 59 keys will run",
        ]

    def test_where_no_key_is_of_time_a_line_goes_along_the_last(self, visitor):
        sizes = StaticPartitions([f"{number:02}" for number in range(40)])
        definition = MultiPartitions({"shop": StaticPartitions(["a", "b"]), "size": sizes})
        asset("stock", partitions=specs.dump(definition))
        producer("count", writes="stock")
        page = plan_of(visitor, dag="count", selection="*|[00...19], a|[25...39]")
        assert [row.text for row in page.all("tr")][1:] == [
            "a|00 to a|19 20 keys will run",
            "a|25 to a|39 15 keys will run",
            "b|00 to b|19 20 keys will run",
        ]

    def test_keys_that_nothing_defines_are_side_by_side_as_they_were_seen(self, visitor):
        asset("loose")
        producer("gather", writes="loose")
        emit("loose", *(f"{shop}|{number:02}" for number in range(30) for shop in "ab"))
        page = plan_of(visitor, dag="gather", selection="", run="all")
        assert [row.text for row in page.all("tr")][1:] == [
            "a|00 to a|29 30 keys will run",
            "b|00 to b|29 30 keys will run",
        ]

    def test_very_many_keys_are_planned_when_somebody_says_so(self, visitor, load, monkeypatch):
        monkeypatch.setattr(planning, "MOST_UNASKED", 9)
        page = plan_of(visitor)
        assert "More than 9 keys have to be looked at" in page.text
        assert "to run" not in page.all("h2")[0].text
        whole = read(visitor.get(page.links["Plan them all"]))
        assert "8 to run, 2 skipped" in whole.text
        assert "8 to run" in read(visitor.get(whole.links["8 to run"])).text
        assert "3 to run" in plan_of(visitor, selection="[2026-03-06...2026-03-08]").text


class TestHowLong:
    def test_tells_how_long_it_may_take_once_the_dag_has_run(self, visitor, load):
        assert "how long is not known: the Dag has no run yet that succeeded" in plan_of(visitor).text
        begin(load, keys=("2026-03-01",))
        turn()
        execute()
        turn()
        DagRun.objects.update(ended_at=DagRun.objects.get().started_at + play.SECOND * 60)
        assert (
            "takes about 1 min, going by the latest runs that succeeded" in plan_of(visitor, at_once="7").text
        )
        assert "takes about 7 min" in plan_of(visitor, at_once="1").text

    def test_many_take_no_less_than_so_many_took_together(self, visitor, load):
        begin(load, keys=tuple(f"2026-03-0{day}" for day in range(1, 9)), max_active_runs=6)
        turn()
        execute()
        turn()
        assert "takes less than a minute" in plan_of(visitor, run="all", at_once="100").text
        began = DagRun.objects.earliest("queued_at").queued_at
        for number, run in enumerate(DagRun.objects.order_by("pk"), 1):
            DagRun.objects.filter(pk=run.pk).update(
                queued_at=began,
                started_at=began + play.SECOND * 29,
                ended_at=began + play.SECOND * 30 * number,
            )
        assert "takes about 5 min" in plan_of(visitor, run="all", at_once="100").text

    def test_what_waited_in_line_says_nothing_of_its_length(self, visitor, load):
        begin(load, keys=tuple(f"2026-03-0{day}" for day in range(1, 9)), max_active_runs=6)
        turn()
        execute()
        turn()
        ended = DagRun.objects.latest("ended_at").ended_at + play.SECOND * 600
        DagRun.objects.update(started_at=ended, ended_at=ended + play.SECOND)
        assert "takes less than a minute" in plan_of(visitor, run="all", at_once="3").text
