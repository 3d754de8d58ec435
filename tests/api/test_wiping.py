"""Data is taken back over the API and by command: partitions wiped, events deleted."""

import json
from io import StringIO
from urllib.parse import quote

import pytest
from django.utils import timezone

from core.models import AssetEvent, JournalEntry
from partitions_site import roles
from partitions_site.cli import program
from tests.engine.world import IDENTITY, REGIONS, asset, consumer, emit, fired, held, part, turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def editor(api_of):
    return api_of(roles.EDITOR)


def url(*keys, of="a"):
    query = "&".join(f"partition_key={quote(key, safe='')}" for key in keys)
    return f"/api/v2/assets/{asset(of).pk}/partitions?{query}"


class TestWipe:
    def test_says_which_had_data_and_they_have_none(self, editor):
        emit("a", "k", "l", "m")
        assert editor.delete(url("k")).json() == {"partition_keys": ["k"]}
        assert editor.delete(url("l", "k")).json() == {"partition_keys": ["l"]}
        assert [part("a", key).state for key in "klm"] == ["missing", "missing", "materialized"]

    def test_held_runs_wait_for_them_again(self, editor):
        consumer("all", {"a": REGIONS})
        emit("a", "tw", "jp")
        turn()
        editor.delete(url("jp"))
        turn(timezone.now())
        assert held("all", "all").sentence == "waiting on 2 of 3: keys jp, us"

    def test_is_in_the_journal(self, editor):
        emit("a", "k")
        editor.delete(url("k"))
        entry = JournalEntry.objects.get(event="partition wiped")
        assert (entry.by, entry.via, entry.asset_name, entry.partition_key) == ("editor", "api", "a", "k")

    def test_keys_are_carried_by_the_address_whatever_they_are(self, editor):
        strange = ["a/b?c#d&e=%2F", "東京"]
        emit("a", *strange)
        assert editor.delete(url(*strange)).json()["partition_keys"] == sorted(strange)

    def test_of_a_key_never_seen_is_not_found_and_wipes_none(self, editor):
        emit("a", "k")
        answer = editor.delete(url("k", "never"))
        sentence = "nothing is known of partition 'never' of a: nothing was wiped"
        assert (answer.status_code, answer.json()) == (404, {"detail": sentence})
        assert part("a", "k").data_at

    def test_of_no_asset_is_not_found(self, editor):
        answer = editor.delete("/api/v2/assets/999/partitions?partition_key=k")
        assert (answer.status_code, answer.json()["detail"]) == (
            404,
            "The Asset with ID: `999` was not found",
        )

    @pytest.mark.parametrize("query", ["", "?partition_key=", "?partition_key=%20k"])
    def test_without_a_key_that_can_be_one_is_refused(self, editor, query):
        assert editor.delete(f"/api/v2/assets/{asset('a').pk}/partitions{query}").status_code == 422

    def test_is_not_for_operators(self, api):
        emit("a", "k")
        assert api.delete(url("k")).status_code == 403
        assert part("a", "k").data_at


class TestDeleteAnEvent:
    def test_leaves_the_partition_as_the_event_before_did(self, editor):
        [first], [last] = emit("a", "k"), emit("a", "k")
        assert editor.delete(f"/api/v2/assets/events/{last.event.pk}").status_code == 204
        assert list(AssetEvent.objects.all()) == [first.event]
        assert part("a", "k").last_event == first.event
        assert JournalEntry.objects.get(event="asset event deleted").by == "editor"

    def test_that_a_run_has_consumed_is_refused(self, editor):
        consumer("copy", {"a": IDENTITY})
        [registered] = emit("a", "k")
        turn()
        assert fired("copy") == ["k"]
        answer = editor.delete(f"/api/v2/assets/events/{registered.event.pk}")
        assert (answer.status_code, "has consumed event" in answer.json()["detail"]) == (409, True)

    def test_that_is_not_there_is_not_found(self, editor):
        answer = editor.delete("/api/v2/assets/events/999")
        assert (answer.status_code, answer.json()["detail"]) == (
            404,
            "The asset event with ID: `999` was not found",
        )

    def test_is_not_for_operators(self, api):
        [registered] = emit("a", "k")
        assert api.delete(f"/api/v2/assets/events/{registered.event.pk}").status_code == 403


class TestCommand:
    def wipe(self, *words):
        out = StringIO()
        return program.main(["wipe", *words], out), out.getvalue().strip()

    def test_wipes(self):
        emit("a", "k", "l")
        said = ("--by", "bob", "--reason", "bad file")
        assert self.wipe("a", "k", *said) == (0, "1 of 1 partition had data, and have none now")
        assert self.wipe("a", "k", "l") == (0, "1 of 2 partitions had data, and have none now")
        entry = JournalEntry.objects.filter(event="partition wiped").earliest("id")
        assert (entry.by, entry.via, entry.reason) == ("bob", "cli", "bad file")
        assert json.loads(self.wipe("a", "k", "--json")[1]) == {"partition_keys": [], "named": 1}

    def test_of_what_is_not_there_is_refused(self, capsys):
        emit("a", "k")
        for words, sentence in (
            ("b", "no asset is called b"),
            ("a", "nothing is known of partition 'x' of a"),
        ):
            assert self.wipe(words, "x") == (1, "")
            assert sentence in capsys.readouterr().err
