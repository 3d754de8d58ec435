import pytest

from core.models import AssetEvent, JournalEntry, Partition
from scheduling import events, runs
from scheduling.algebra.errors import InvalidKey
from scheduling.events import EventReport, InactiveAsset
from scheduling.idempotency import FROM_REST_API, IdempotencyKeyTaken
from scheduling.runs import Ask
from tests.engine.world import ALICE, MINUTE, NOW, asset, dag, emit, finish, part, start

pytestmark = pytest.mark.django_db


def report(*reports):
    return events.register_events(reports, source=AssetEvent.Source.API, deed=ALICE, at=NOW)


class TestRecording:
    def test_an_event_gives_its_partition_data(self):
        emit("hourly", "2026-03-10T09:00:00")
        row = part("hourly", "2026-03-10T09:00:00")
        assert (row.state, row.data_at, row.attempt) == ("materialized", NOW, "success")

    @pytest.mark.parametrize(
        "key",
        [
            "Report, Q1 2024.pdf",
            '{"k1":"v1","k2":"v2"}',
            "my|key",
            "a/b?c#d&e=%2F",
            "Zürich",
            "東京",
            "a\\|b",
            "0",
        ],
    )
    def test_a_key_is_kept_byte_for_byte(self, key):
        [registered] = emit("files", key)
        registered.event.refresh_from_db()
        assert registered.event.partition_key == key
        assert Partition.objects.get().key == key

    @pytest.mark.parametrize("key", ["", " ", " a", "a\n", "a\x00b", "x" * 251])
    def test_a_key_that_cannot_be_one_is_refused_and_nothing_is_recorded(self, key):
        with pytest.raises(InvalidKey, match="event 1"):
            emit("files", "fine", key)
        assert not AssetEvent.objects.exists()
        assert not Partition.objects.exists()

    def test_an_event_without_a_key_makes_no_partition(self):
        emit("plain", None)
        assert AssetEvent.objects.get().partition_key is None
        assert not Partition.objects.exists()

    def test_the_last_event_of_a_key_in_one_request_is_its_state(self):
        report(EventReport(asset("a"), "k", {"rows": 1}), EventReport(asset("a"), "k", {"rows": 2}))
        assert part("a", "k").extra == {"rows": 2}
        assert AssetEvent.objects.count() == 2

    def test_a_later_event_replaces_what_is_known(self):
        emit("a", "k")
        emit("a", "k", at=NOW + MINUTE)
        assert part("a", "k").data_at == NOW + MINUTE

    @pytest.mark.parametrize(("count", "statements"), [(1, 6), (2, 7), (50, 7)])
    def test_any_number_of_events_costs_seven_statements_at_most(
        self, count, statements, settings, django_assert_num_queries
    ):
        settings.EMBEDDED = False  # where it is, the bell is one more
        reports = [EventReport(asset("a"), f"k{n}") for n in range(count)]
        with django_assert_num_queries(statements):
            report(*reports)


class TestIdempotency:
    def test_a_repeated_report_returns_the_first_event(self):
        once = EventReport(asset("a"), "k", idempotency_key="order-7")
        [first], [second] = report(once), report(once)
        assert (first.is_new, second.is_new) == (True, False)
        assert first.event.pk == second.event.pk
        assert AssetEvent.objects.count() == 1

    def test_a_repetition_within_one_request_is_one_event(self):
        once = EventReport(asset("a"), "k", idempotency_key="order-7")
        answers = report(once, once)
        assert [answer.is_new for answer in answers] == [True, False]
        assert AssetEvent.objects.count() == 1

    def test_it_belongs_to_the_asset(self):
        report(
            EventReport(asset("a"), "k", idempotency_key="x"),
            EventReport(asset("b"), "k", idempotency_key="x"),
        )
        assert AssetEvent.objects.count() == 2

    @pytest.mark.parametrize(
        ("other", "words"),
        [
            ({"partition_key": "l"}, "order-7' was used for an event of asset a with partition 'k'"),
            ({"partition_key": None}, "with partition 'k'"),
            ({"extra": {"rows": 2}}, "with other extra"),
        ],
    )
    def test_of_another_report_is_refused(self, other, words):
        said = {"partition_key": "k", "extra": {"rows": 1}, "idempotency_key": "order-7"}
        report(EventReport(asset("a"), **said))
        with pytest.raises(IdempotencyKeyTaken, match=words):
            report(EventReport(asset("b"), "k"), EventReport(asset("a"), **said | other))
        assert AssetEvent.objects.count() == 1, "all or none"

    def test_of_two_reports_in_one_request_is_refused(self):
        with pytest.raises(IdempotencyKeyTaken):
            report(*(EventReport(asset("a"), key, idempotency_key="x") for key in "kl"))
        assert not AssetEvent.objects.exists()

    def test_what_is_read_back_otherwise_is_the_same(self):
        """Tuples come back as lists, and a mark of the way by which it came is none of what was said."""
        for extra in ({"days": (1, 2)}, {"days": [1, 2], FROM_REST_API: True}):
            [answer] = report(EventReport(asset("a"), "k", extra, idempotency_key="x"))
        assert not answer.is_new

    @pytest.mark.parametrize("number", [1e23, 1e16, 5e-324, 1.7976931348623157e308, -0.0, 10**23, 2**53 + 1])
    def test_of_a_number_that_is_read_back_otherwise_is_the_same(self, number):
        said = EventReport(asset("a"), "k", {"rows": [number]}, idempotency_key="x")
        report(said)
        [answer] = report(said)
        assert not answer.is_new
        with pytest.raises(IdempotencyKeyTaken, match="other extra"):
            report(EventReport(asset("a"), "k", {"rows": [3]}, idempotency_key="x"))

    def test_an_empty_key_is_none(self):
        for _ in range(2):
            report(EventReport(asset("a"), "k", idempotency_key=""))
        assert AssetEvent.objects.filter(idempotency_key=None).count() == 2


class TestJournal:
    def test_one_event_is_one_entry_with_its_key_and_author(self):
        emit("a", "k")
        entry = JournalEntry.objects.get()
        assert (entry.by, entry.via, entry.asset_name, entry.partition_key) == ("alice", "web", "a", "k")

    def test_the_entry_names_the_asset_of_what_is_new_beside_what_is_repeated(self):
        once = EventReport(asset("a"), "k", idempotency_key="x")
        report(once)
        report(once, EventReport(asset("b"), "k2"))
        entry = JournalEntry.objects.latest("pk")
        assert (entry.asset_name, entry.partition_key) == ("b", "k2")

    def test_a_bulk_is_one_entry_with_the_count(self):
        emit("a", *(f"k{n}" for n in range(50)))
        assert JournalEntry.objects.get().extra == {"events": 50, "assets": ["a"]}


class TestAnAssetThatIsNotDefinedAnyMore:
    def test_takes_no_events(self):
        gone = asset("gone", is_active=False)
        with pytest.raises(InactiveAsset, match="gone is not defined any more"):
            report(EventReport(asset("there"), "k"), EventReport(gone, "k"))
        assert not AssetEvent.objects.exists()

    def test_takes_those_of_a_run_that_was_under_way(self):
        made = dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["out"])
        run = start(runs.trigger(made, Ask("k"), deed=ALICE, at=NOW))
        out = asset("out")
        out.is_active = False
        out.save()
        finish(run, "out")
        assert part("out", "k").data_at == NOW
