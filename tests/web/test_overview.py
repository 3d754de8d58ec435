import pytest
from django.utils import timezone

from core.models import DefinitionSource
from scheduling import claims, drawings, runs
from scheduling.algebra import specs
from scheduling.board import drawn
from scheduling.runs import Ask
from scheduling.sdk import DailyPartitions
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, asset, consumer, emit, hours, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db


class TestAssets:
    def test_each_has_a_line_with_its_bar_and_counts(self, visitor):
        emit("hourly", "2026-03-09T01:00:00", "2026-03-09T02:00:00")
        page = read(visitor.get("/"))
        assert page.links["hourly"] == "/assets/hourly"
        assert page.links["2 materialized"] == "/assets/hourly?state=materialized"
        [bar] = page.all("svg", role="img", class_="bar")
        assert "2 materialized" in bar.attributes["aria-label"]

    def test_the_ground_of_a_short_bar_ends_where_its_partitions_end(self, visitor):
        emit("daily", "2026-03-09", "2026-03-10")
        [ground] = read(visitor.get("/")).all("path", class_="ground")
        assert ground.attributes["d"] == "M0 15h2v5H0z"

    def test_the_newest_partition_with_data_is_a_link(self, visitor):
        emit("daily", "2026-03-09", "2026-03-10")
        assert read(visitor.get("/")).links["2026-03-10"] == "/assets/daily?key=2026-03-10"

    def test_the_newest_with_data_is_told_though_its_latest_attempt_failed(self, visitor):
        made = world.dag("nightly", {"type": "PartitionedAtRuntime"}, writes=["daily"])
        emit("daily", "2026-03-09")
        later = NOW + world.MINUTE
        begun = world.start(runs.trigger(made, Ask("2026-03-09"), deed=ALICE, at=later), at=later)
        claims.fail(begun, "boom", at=later)
        page = read(visitor.get("/"))
        assert "1 failed" in page.links
        [line] = [each.text for each in page.all("td", data_label="Newest")]
        assert line.startswith("2026-03-09")

    def test_are_filtered_by_name_and_group(self, visitor):
        asset("hourly sales", group="shop")
        asset("hourly load", group="machine")
        assert "hourly load" not in read(visitor.get("/?q=sales")).links
        assert "hourly sales" not in read(visitor.get("/?group=machine")).links
        assert read(visitor.get("/?q=SALES&group=shop")).links["hourly sales"]

    def test_of_no_group_are_said_to_be(self, visitor):
        asset("hourly", group="shop")
        asset("daily")
        links = read(visitor.get("/")).links
        assert links["no group"] == "?group=asset"
        assert "asset" not in links
        page = read(visitor.get("/?group=asset"))
        assert page.links["no group ×"] == "?"
        assert "daily" in page.links
        assert read(visitor.get("/assets/daily")).links["no group"] == "/?group=asset"

    def test_are_narrowed_to_those_with_problems(self, visitor):
        made = world.dag("nightly", {"type": "PartitionedAtRuntime"}, writes=["daily"])
        claims.fail(world.start(runs.trigger(made, Ask("2026-03-09"), deed=ALICE, at=NOW)), "boom", at=NOW)
        emit("fine", "2026-03-09")
        links = read(visitor.get("/?show=problems")).links
        assert "daily" in links
        assert "fine" not in links

    def test_a_filter_that_matches_nothing_says_so(self, visitor):
        asset("hourly")
        page = read(visitor.get("/?q=weekly"))
        assert "No asset matches this filter" in page.text
        assert page.links["Show all assets"] == "/"

    def test_a_fresh_installation_is_told_how_to_begin(self, visitor):
        page = read(visitor.get("/"))
        assert "No assets yet" in page.text
        assert "sync_definitions" in page.text

    def test_one_that_takes_long_to_draw_says_so(self, visitor, monkeypatch):
        monkeypatch.setattr(drawn, "MOST_READ", 1)
        emit("daily", "2026-03-09", "2026-03-10")
        for address in ("/", "/?show=problems"):
            page = read(visitor.get(address))
            assert "being drawn" in page.text
            assert page.links["daily"] == "/assets/daily"

    def test_one_that_is_not_defined_any_more_is_left_out(self, visitor):
        asset("old", is_active=False)
        assert "old" not in read(visitor.get("/")).links


class TestNeeds:
    def test_come_before_the_assets(self, visitor):
        DefinitionSource.objects.create(name="shop.py", error="NameError: sale", loaded_at=NOW)
        asset("hourly")
        text = visitor.get("/").content.decode()
        assert text.index("NameError: sale") < text.index("/assets/hourly")

    def test_a_silent_engine_is_told_on_every_page(self, visitor):
        page = read(visitor.get("/journal"))
        assert page.links["Engine needs you"] == "/health"

    def test_a_failed_partition_leads_to_its_panel_and_to_all_that_failed(self, visitor):
        made = world.dag("nightly", {"type": "PartitionedAtRuntime"}, writes=["daily"])
        for key in ("2026-03-08", "2026-03-09"):
            claims.fail(
                world.start(runs.trigger(made, Ask(key), deed=ALICE, at=NOW)), "boom", at=timezone.now()
            )
        links = read(visitor.get("/")).links
        assert links["2026-03-09"] == "/assets/daily?key=2026-03-09"
        assert links["2 partitions"] == "/assets/daily?state=failed"

    def test_hopeless_held_runs_lead_to_their_list(self, visitor):
        consumer("sum it", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-09", 1))
        turn()
        world.HeldRun.objects.update(verdict="broken", sentence="cannot be read")
        assert read(visitor.get("/")).links["1 held run"] == "/held?dag=sum%20it&verdict=broken"

    def test_keys_that_are_not_in_the_definition_say_what_to_do(self, visitor):
        asset("daily", partitions=specs.dump(DailyPartitions("2026-03-01")))
        emit("daily", "2026-02-27", "2026-02-28")
        drawings.draw(now=NOW)
        page = read(visitor.get("/"))
        assert "2026-02-28 and 1 more are not in its definition. Report them under keys" in page.text
        assert page.links["2 keys"] == "/assets/daily?state=unexpected"

    def test_what_goes_on_is_counted_with_links(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-09", 1))
        turn()
        assert read(visitor.get("/")).links["1 held"] == "/held"


class TestBehind:
    """How late the newest partition is: what was expected since then, and has no data."""

    def test_what_is_newer_is_counted_and_selected(self, visitor):
        world.asset("days", partitions=specs.dump(DailyPartitions("2026-03-01", "2026-03-08")))
        emit("days", "2026-03-02", "2026-03-04")
        link = read(visitor.get("/")).links["3 newer without data"]
        assert "3 partitions selected" in read(visitor.get(link)).text

    def test_one_that_is_up_to_date_is_not_behind(self, visitor):
        world.asset("days", partitions=specs.dump(DailyPartitions("2026-03-01", "2026-03-08")))
        emit("days", "2026-03-07")
        assert "newer without data" not in read(visitor.get("/")).text

    def test_one_that_never_had_data_says_so(self, visitor):
        world.asset("days", partitions=specs.dump(DailyPartitions("2026-03-01", "2026-03-08")))
        assert "7 missing none yet" in read(visitor.get("/")).text
