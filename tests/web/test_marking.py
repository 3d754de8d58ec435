"""Selected partitions are marked by hand: they have data, or they have none."""

import pytest

from core.models import AssetEvent, JournalEntry, Partition
from partitions_site import roles
from scheduling import wiping
from scheduling.algebra import specs
from scheduling.sdk import DailyPartitions
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, NOW, asset, consumer, emit, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db

SELECTION = "[2026-03-01...2026-03-04]"


@pytest.fixture
def days(db):
    """Two of four days have data."""
    asset("days", partitions=specs.dump(DailyPartitions("2026-03-01", end="2026-04-01")))
    emit("days", "2026-03-01", "2026-03-03")
    turn()


@pytest.fixture
def editor(visitor_of):
    return visitor_of(roles.EDITOR)


@pytest.fixture
def operator(visitor_of):
    return visitor_of(roles.OPERATOR)


def ask(visitor, **query):
    return read(visitor.get("/mark", {"asset": "days", "sel": SELECTION} | query))


def send(visitor, page, **changes):
    """Press Mark: what the dialog has hidden goes with it."""
    hidden = page.all("input", type="hidden")
    fields = {each.attributes["name"]: each.attributes["value"] for each in hidden}
    return visitor.post("/mark", fields | changes)


def with_data():
    return sorted(Partition.objects.exclude(data_at=None).values_list("key", flat=True))


@pytest.mark.usefixtures("days")
class TestMark:
    def test_is_offered_beside_a_selection(self, operator):
        page = read(operator.get(f"/assets/days?sel={SELECTION}&only=missing"))
        link = "/mark?asset=days&sel=%5B2026-03-01...2026-03-04%5D&only=missing"
        assert page.links["Mark…"] == link
        assert "Mark…" not in read(operator.get("/assets/days")).links

    def test_says_first_what_it_will_do(self, operator):
        page = ask(operator)
        assert "Mark 4 partitions of days" in page.text
        assert "2 materialized, 2 missing" in page.text
        assert AssetEvent.objects.count() == 2

    def test_as_having_data_records_an_event_for_each(self, operator):
        answer = send(operator, ask(operator), reason="loaded by hand", **{"as": "data"})
        assert answer["Location"] == "/assets/days?sel=%5B2026-03-01...2026-03-04%5D"
        assert with_data() == [f"2026-03-0{day}" for day in range(1, 5)]
        assert AssetEvent.objects.filter(source="person", extra={"recorded_by_hand": True}).count() == 4
        assert JournalEntry.objects.filter(via="web", reason="loaded by hand").exists()

    def test_only_those_of_one_state(self, operator):
        send(operator, ask(operator, only="missing"), **{"as": "data"})
        assert AssetEvent.objects.filter(source="person").count() == 2

    def test_as_missing_takes_the_data_of_those_that_have_some(self, editor):
        answer = send(editor, ask(editor), **{"as": "missing"})
        assert "Marked 2 partitions of days as having no data." in read(editor.get(answer["Location"])).text
        assert with_data() == []
        assert AssetEvent.objects.count() == 2

    def test_as_missing_needs_another_right(self, operator):
        page = ask(operator)
        assert "Takes the right to take data back" in page.text
        refused = send(operator, page, **{"as": "missing"})
        assert refused.status_code == 409
        assert (
            "take data back (core.delete_partition), which the roles editor and admin have"
            in read(refused).text
        )
        assert with_data() == ["2026-03-01", "2026-03-03"]

    def test_a_selection_that_means_others_by_now_is_refused(self, operator):
        page = ask(operator, only="missing")
        emit("days", "2026-03-02")
        turn()
        refused = send(operator, page, **{"as": "data"})
        assert refused.status_code == 409
        assert "the selection means 1 partition by now: nothing was marked" in read(refused).text
        assert with_data() == ["2026-03-01", "2026-03-02", "2026-03-03"]

    def test_a_selection_that_means_as_many_others_by_now_is_refused(self, editor):
        """Two were missing when it was shown, and two are: not the same."""
        page = ask(editor, only="missing")
        emit("days", "2026-03-02")
        turn()
        wiping.wipe(asset("days"), ["2026-03-03"], deed=world.ALICE, at=NOW)
        refused = send(editor, page, **{"as": "data"})
        assert refused.status_code == 409
        assert "the selection means others by now: nothing was marked" in read(refused).text
        assert with_data() == ["2026-03-01", "2026-03-02"]

    def test_a_selection_that_means_nothing_says_so(self, operator):
        page = ask(operator, sel="[2026-03-01")
        assert "expected ..." in page.text
        [button] = [each for each in page.all("button") if each.text == "Mark"]
        assert button.attributes["type"] == "button"
        assert "expected ..." in page.all("p", id=button.attributes["aria-describedby"])[0].text
        assert send(operator, page, **{"as": "data"}).status_code == 422

    def test_more_than_a_thousand_at_once_are_refused(self, operator):
        asset("many", partitions=specs.dump(DailyPartitions("2020-01-01", end="2026-01-01")))
        page = ask(operator, asset="many", sel="*")
        assert "2,192 partitions are selected: 1,000 at most" in page.text

    def test_what_listens_counts_them(self, operator):
        asset("hours")
        consumer("sum", {"hours": HOURS_TO_DAY})
        emit("hours", *world.hours("2026-03-10", *range(23)))
        turn()
        page = ask(operator, asset="hours", sel="2026-03-10T22:00:00")
        send(operator, page, **{"as": "data"})
        turn(NOW)
        assert world.held("sum", "2026-03-10").received_count == 23


@pytest.mark.usefixtures("days")
class TestWipe:
    ADDRESS = "/wipe?asset=days&key=2026-02-27"

    def test_the_panel_of_a_key_of_no_definition_offers_it(self, editor):
        emit("days", "2026-02-27")
        assert read(editor.get("/assets/days?key=2026-02-27")).links["Wipe…"] == self.ADDRESS
        assert "Wipe…" not in read(editor.get("/assets/days?key=2026-03-01")).links

    def test_is_asked_first_and_then_done_and_told_in_the_journal(self, editor):
        emit("days", "2026-02-27")
        assert "days has no data for 2026-02-27 any more" in read(editor.get(self.ADDRESS)).text
        assert "2026-02-27" in with_data()
        answer = editor.post(self.ADDRESS, {"reason": "a slip"})
        assert answer["Location"] == "/assets/days?key=2026-02-27"
        assert "2026-02-27" not in with_data()
        entry = JournalEntry.objects.get(event="partition wiped")
        assert (entry.partition_key, entry.reason, entry.via) == ("2026-02-27", "a slip", "web")
        assert "Wipe…" not in read(editor.get("/assets/days?key=2026-02-27")).links

    def test_of_which_nothing_is_known_is_refused(self, editor):
        refused = editor.post(self.ADDRESS)
        assert refused.status_code == 409
        assert "nothing is known of partition" in read(refused).text

    def test_takes_the_right_to_take_data_back(self, operator):
        emit("days", "2026-02-27")
        assert operator.post(self.ADDRESS).status_code == 403
        assert "2026-02-27" in with_data()


@pytest.mark.usefixtures("days")
def test_viewers_may_not(visitor_of):
    assert visitor_of(roles.VIEWER).get("/mark", {"asset": "days", "sel": "*"}).status_code == 403
