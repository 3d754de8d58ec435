"""Keys of dynamic partitions over the API."""

import pytest

from core.models import DynamicKey, JournalEntry
from scheduling import dynamic
from scheduling.algebra import specs
from scheduling.algebra.partitions import DynamicPartitions
from tests.engine.world import asset

pytestmark = pytest.mark.django_db
URL = "/api/v2/partitionsDefinitions/stores/keys"


@pytest.fixture(autouse=True)
def stores(db):
    return asset("sales", partitions=specs.dump(DynamicPartitions("stores")))


def add(api, *keys, status=200):
    answer = api.post(URL, {"partition_keys": list(keys)})
    assert answer.status_code == status, answer.json()
    return answer.json()


class TestAdd:
    def test_gives_the_new_ones_and_how_many_there_are(self, api):
        assert add(api, "berlin", "aachen") == {"partition_keys": ["berlin", "aachen"], "total_entries": 2}
        assert add(api, "aachen", "celle") == {"partition_keys": ["celle"], "total_entries": 3}
        assert dynamic.keys_of("stores") == ("berlin", "aachen", "celle")

    def test_is_in_the_journal_with_the_reason(self, api):
        api.post(URL, {"partition_keys": ["berlin"], "reason": "opened today"})
        entry = JournalEntry.objects.get(event="partition keys added")
        assert (entry.by, entry.via, entry.reason) == ("operator", "api", "opened today")

    @pytest.mark.parametrize("keys", [[], [" "], ["a", "b "], [7], ["x" * 251]])
    def test_refuses_what_can_be_no_key_and_adds_none(self, api, keys):
        add(api, *keys, status=422)
        assert not DynamicKey.objects.exists()

    def test_to_partitions_that_nobody_has_is_not_found(self, api):
        answer = api.post(URL.replace("stores", "shops"), {"partition_keys": ["x"]})
        assert (answer.status_code, answer.json()) == (
            404,
            {"detail": "No dynamic partitions are called `shops`"},
        )


class TestList:
    def test_oldest_first(self, api):
        add(api, "berlin", "aachen")
        rows = api.get(URL).json()["keys"]
        assert [(row["partition_key"], row["added_by"], row["removed_at"]) for row in rows] == [
            ("berlin", "operator", None),
            ("aachen", "operator", None),
        ]

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("", ["berlin", "celle"]),
            ("with_removed=true", ["berlin", "aachen", "celle"]),
            ("partition_key_prefix_pattern=b", ["berlin"]),
            ("partition_key=celle", ["celle"]),
            ("order_by=-partition_key", ["celle", "berlin"]),
            ("limit=1", ["berlin"]),
        ],
    )
    def test_is_narrowed_and_ordered(self, api, query, found):
        add(api, "berlin", "aachen", "celle")
        api.delete(f"{URL}?partition_key=aachen")
        assert [row["partition_key"] for row in api.get(f"{URL}?{query}").json()["keys"]] == found

    def test_of_nobody_is_not_found(self, api):
        assert api.get(URL.replace("stores", "shops")).status_code == 404

    def test_of_partitions_that_no_asset_has_any_more_is_still_there(self, api, stores):
        add(api, "berlin")
        stores.partitions = None
        stores.save()
        assert len(api.get(URL).json()["keys"]) == 1


class TestRemove:
    def test_takes_them_away_and_keeps_their_history(self, api):
        add(api, "berlin", "aachen")
        answer = api.delete(f"{URL}?partition_key=berlin&partition_key=nowhere")
        assert answer.json() == {"partition_keys": ["berlin"], "total_entries": 1}
        [gone] = [row for row in api.get(f"{URL}?with_removed=true").json()["keys"] if row["removed_at"]]
        assert (gone["partition_key"], gone["removed_by"]) == ("berlin", "operator")

    def test_keys_are_carried_by_the_address_whatever_they_are(self, api):
        strange = ["a/b?c#d&e=%2F", "Zürich", "東京"]
        add(api, *strange)
        from urllib.parse import quote

        query = "&".join(f"partition_key={quote(key, safe='')}" for key in strange)
        assert api.delete(f"{URL}?{query}").json()["partition_keys"] == strange

    def test_of_nothing_is_refused(self, api):
        assert api.delete(URL).status_code == 422
