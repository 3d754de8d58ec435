"""One partition on the page of its asset: its panel, and events that people record of it."""

import pytest

from core.models import AssetEvent, JournalEntry, Partition
from scheduling import runs
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, asset, consumer, emit, hours, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db


class TestPanel:
    def test_tells_the_held_run_and_what_it_waits_for(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("hourly", *hours("2026-03-09", *range(21)))
        turn()
        page = read(visitor.part("/assets/daily?key=2026-03-09", "panel"))
        assert "waiting on 3 of 24: hours 21–23" in page.text
        assert page.links["Trigger sum…"] == "/trigger?dag=sum&key=2026-03-09"

    def test_says_why_there_is_nothing_to_trigger(self, visitor):
        world.dag("load", writes=["daily"])
        page = read(visitor.part("/assets/daily?key=2026-03-09", "panel"))
        assert "for this key: load writes it, and its runs have no partition key" in page.text
        assert page.links["Trigger load without a key…"] == "/trigger?dag=load"
        assert page.links["Record an event…"] == "/record?asset=daily&key=2026-03-09"
        world.dag("again", world.DAILY, writes=["daily"])
        page = read(visitor.part("/assets/daily?key=2026-03-09", "panel"))
        assert "no partition key" not in page.text
        assert [words for words in page.links if words.startswith("Trigger")] == ["Trigger again…"]

    def test_says_that_nobody_writes_it(self, visitor):
        asset("daily")
        page = read(visitor.part("/assets/daily?key=2026-03-09", "panel"))
        assert "No Dag here writes it, so no run can be triggered for this key." in page.text

    def test_tells_what_depends_on_it(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-09", 7))
        turn()
        page = read(visitor.part("/assets/hourly?key=2026-03-09T07:00:00", "panel"))
        assert page.links["held"] == f"/held/{world.held('sum', '2026-03-09').pk}"

    @pytest.mark.parametrize(
        ("least", "look", "said"),
        [
            (24, "tag warn", "Made without 3 keys of hourly: hours 21–23"),
            (20, "soft", "Enough of hourly was there; 3 keys had not come."),
        ],
    )
    def test_what_a_wait_policy_did_without_is_no_warning(self, visitor, least, look, said):
        policy = {"wait_policy": {"type": "MinimumCount", "n": least}}
        row = consumer("sum", {"hourly": HOURS_TO_DAY | policy}, writes=["daily"])
        emit("hourly", *hours("2026-03-09", *range(21)))
        run = runs.trigger(row, runs.Ask("2026-03-09"), deed=world.ALICE, at=world.NOW)
        world.finish(world.start(run), "daily", keys=["2026-03-09"])
        page = read(visitor.part("/assets/daily?key=2026-03-09", "panel"))
        assert "without 3 keys of hourly" in [each.text for each in page.all("p", class_=look)]
        assert said in read(visitor.get(f"/runs/{run.pk}")).text

    def test_a_key_that_nobody_has_seen_is_told_so(self, visitor):
        asset("hourly")
        page = read(visitor.part("/assets/hourly?key=never", "panel"))
        assert "nobody has said that this partition has data" in page.text

    def test_numbers_of_the_last_event_are_shown(self, visitor):
        world.events.register_events(
            [world.EventReport(asset("daily"), "2026-03-09", {"rows": 4711})],
            source=AssetEvent.Source.API,
            deed=world.ALICE,
            at=world.NOW,
        )
        assert "4711" in read(visitor.part("/assets/daily?key=2026-03-09", "panel")).text

    def test_secrets_that_were_kept_before_are_not_shown(self, visitor):
        emit("daily", "2026-03-09")
        kept = {"password": "hunter2", "rows": 4711}
        AssetEvent.objects.update(extra=kept)
        Partition.objects.update(extra=kept)
        for query in ("key=2026-03-09", "tab=events"):
            text = read(visitor.get(f"/assets/daily?{query}")).text
            assert "4711" in text
            assert "hunter2" not in text

    def test_without_a_key_it_explains_the_pictures(self, visitor):
        asset("daily")
        page = read(visitor.part("/assets/daily", "panel"))
        assert "held: a run waits for what it needs" in page.text
        assert "data-live" not in page.elements[0].attributes


class TestRecord:
    def test_says_what_it_will_do_before_it_does(self, visitor):
        asset("hourly")
        page = read(visitor.get("/record?asset=hourly&key=2026-03-09T07:00:00"))
        assert "Everything that listens to hourly counts it" in page.text
        assert page.fields["key"] == "2026-03-09T07:00:00"
        assert AssetEvent.objects.count() == 0

    def test_records_the_event_and_the_reason(self, visitor):
        asset("hourly")
        form = {"asset": "hourly", "key": "2026-03-09T07:00:00", "reason": "the file came by post"}
        response = visitor.post("/record", form)
        assert response["Location"] == "/assets/hourly?key=2026-03-09T07%3A00%3A00"
        event = AssetEvent.objects.get()
        assert (event.source, event.created_by) == ("person", "operator")
        entry = JournalEntry.objects.get()
        assert (entry.by, entry.via, entry.reason) == ("operator", "web", "the file came by post")

    @pytest.mark.parametrize("key", [" x", "x" * 251, "a\tb"])
    def test_a_key_that_cannot_be_one_is_refused_with_a_sentence(self, visitor, key):
        asset("hourly")
        response = visitor.post("/record", {"asset": "hourly", "key": key})
        assert response.status_code == 422
        assert read(response).all("p", role="alert")[0].text
        assert AssetEvent.objects.count() == 0

    @pytest.mark.parametrize(
        ("key", "doubt"),
        [
            ("2026-3-9", "It is none of the keys that daily should have: "),
            ("2026-02-28", "It is none of the keys that daily should have: "),
            ("2999-01-01", "Its period has not begun yet."),
        ],
    )
    def test_a_key_that_may_be_a_mistake_is_recorded_only_on_purpose(self, visitor, key, doubt):
        asset("daily", partitions=DAYS)
        form = {"asset": "daily", "key": key, "reason": "by post"}
        assert doubt in read(visitor.part(f"/record?asset=daily&key={key}", "tells")).text
        refused = visitor.post("/record", form)
        assert refused.status_code == 422
        assert read(refused).fields["reason"] == "by post"
        assert "Tick that you mean it, and record it again" in read(refused).all("p", role="alert")[0].text
        assert AssetEvent.objects.count() == 0
        visitor.post("/record", {**form, "on_purpose": "yes"})
        assert AssetEvent.objects.get().partition_key == key

    def test_what_a_key_means_is_said_while_it_is_typed(self, visitor):
        asset("daily", partitions=DAYS)
        page = read(visitor.part("/record?asset=daily&key=2026-03-10", "tells"))
        assert page.text == "Tuesday 10 March 2026 (UTC)"
        assert page.elements[0].attributes["class"] == "means good"
        page = read(visitor.part("/record?asset=daily&key=%20x", "tells"))
        assert "white space" in page.elements[0].attributes["data-wrong"]

    def test_without_a_key_it_is_an_event_of_the_asset(self, visitor):
        asset("hourly")
        assert visitor.post("/record", {"asset": "hourly", "key": ""})["Location"] == "/assets/hourly"
        assert AssetEvent.objects.get().partition_key is None

    def test_an_asset_that_is_gone_has_no_events(self, visitor):
        asset("old", is_active=False)
        assert visitor.post("/record", {"asset": "old", "key": "x"}).status_code == 404

    def test_htmx_gets_the_dialog_alone(self, visitor):
        asset("hourly")
        page = read(visitor.part("/record?asset=hourly", "dialog"))
        assert page.all("html") == []
        assert page.all("h2")[0].text == "Record an event of hourly"


DAYS = {"type": "TimePartitions", "cadence": "day", "start": "2026-03-01"}

NASTY = [
    "a/b//c",
    "../up",
    "?q=1&r=2#x",
    "sales %2F 100%",
    "日本/売上",
    "<img src=x onerror=alert(1)>",
    "{{ 7*7 }}",
]


@pytest.mark.parametrize("text", NASTY)
class TestAnyText:
    """Names and keys hold any characters; they are text wherever they stand, and lead back to themselves."""

    def test_an_asset_of_that_name_has_a_page(self, visitor, text):
        emit(text, "2026-03-09")
        address = read(visitor.get("/")).links[" ".join(text.split())]
        page = read(visitor.get(address))
        assert page.all("h1")[0].text == text
        assert page.all("img") == []
        assert "49" not in page.all("h1")[0].text

    def test_a_key_like_that_has_a_panel(self, visitor, text):
        emit("anything", text)
        address = read(visitor.get("/assets/anything")).links[text]
        page = read(visitor.get("/assets/anything" + address))
        assert text in [each.text for each in page.all("h2")]
        assert page.all("img") == []
