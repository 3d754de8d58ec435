import pytest

from core.models import DynamicKey, JournalEntry
from partitions_site import roles
from scheduling import dynamic
from scheduling.algebra import specs
from scheduling.sdk import DynamicPartitions, MultiPartitions
from tests.engine import world
from tests.engine.world import ALICE, NOW
from tests.web.reading import read

pytestmark = pytest.mark.django_db
STORE = {"type": "DynamicPartitions", "name": "store"}
ADD = "/keys/add"


@pytest.fixture
def stores(db):
    made = world.asset("stores", partitions=STORE)
    dynamic.add("store", ["north"], deed=ALICE, at=NOW)
    return made


class TestAdding:
    def test_is_offered_where_keys_are_dynamic(self, visitor, stores):
        world.asset("plain")
        assert read(visitor.get("/assets/stores")).links["Add keys…"] == "/keys/add?asset=stores"
        assert "Add keys…" not in read(visitor.get("/assets/plain")).links

    def test_adds_one_a_line_and_shows_the_first(self, visitor, stores):
        answer = visitor.post(
            ADD, {"asset": "stores", "keys": " south \n\nnorth\r\nwest", "reason": "opened"}
        )
        assert answer["Location"] == "/assets/stores?key=south"
        assert dynamic.keys_of("store") == ("north", "south", "west")
        page = read(visitor.get(answer["Location"]))
        assert "Added 2 keys. 1 was there already." in page.text
        assert JournalEntry.objects.filter(event="partition keys added", via="web", reason="opened").exists()
        assert read(visitor.get("/journal?event=partition+keys+added")).links["stores"] == "/assets/stores"

    @pytest.mark.parametrize(
        ("keys", "sentence"),
        [("\n", "say which keys to add, one a line"), ("x" * 251, "at most 250 characters")],
    )
    def test_refuses_what_cannot_be_and_keeps_what_was_typed(self, visitor, stores, keys, sentence):
        answer = visitor.post(ADD, {"asset": "stores", "keys": keys, "reason": "opened"})
        assert answer.status_code == 422
        page = read(answer)
        assert page.fields["reason"] == "opened"
        assert sentence in page.text
        assert page.all("textarea")[0].text == keys.strip()
        assert dynamic.keys_of("store") == ("north",)

    @pytest.mark.parametrize("keys", ["globex, initech", "globex;initech", "acme\nglobex,initech"])
    def test_what_looks_like_several_on_one_line_is_added_only_on_purpose(self, visitor, stores, keys):
        form = {"asset": "stores", "keys": keys}
        answer = visitor.post(ADD, form)
        assert answer.status_code == 422
        assert "would be one key: those that are several stand one a line" in read(answer).text
        assert dynamic.keys_of("store") == ("north",)
        assert read(answer).fields["on_purpose"] == "yes"
        visitor.post(ADD, form | {"on_purpose": "yes"})
        assert dynamic.keys_of("store") == ("north", *keys.split("\n"))

    def test_is_told_of_where_there_is_none_yet(self, visitor):
        world.asset("stores", partitions=STORE)
        world.asset("plain")
        assert "when a key is added: with “Add keys…”" in read(visitor.get("/assets/stores")).text
        assert "Add keys" not in read(visitor.get("/assets/plain")).text

    def test_asks_of_which_dimension_where_there_are_two(self, visitor, stores):
        by = {name: DynamicPartitions(name) for name in ("store", "till")}
        world.asset("sales", partitions=specs.dump(MultiPartitions(by)))
        options = [each.text for each in read(visitor.get("/keys/add?asset=sales")).all("option")]
        assert options == ["store", "till"]
        visitor.post(ADD, {"asset": "sales", "keys": "1", "name": "till"})
        assert dynamic.keys_of("till") == ("1",)

    def test_without_such_partitions_is_refused(self, visitor, stores):
        world.asset("plain")
        assert visitor.post(ADD, {"asset": "plain", "keys": "k"}).status_code == 422


class TestRemoving:
    def test_asks_first_and_keeps_the_history(self, visitor, stores):
        link = read(visitor.get("/assets/stores?key=north")).links["Remove this key…"]
        assert "can be added again" in read(visitor.get(link)).text
        assert visitor.post(link)["Location"] == "/assets/stores"
        assert dynamic.keys_of("store") == ()
        assert DynamicKey.objects.get().removed_by == "operator"

    def test_of_a_key_that_is_not_there_says_so(self, visitor, stores):
        answer = visitor.post("/keys/remove?asset=stores&key=south")
        assert answer.status_code == 409
        assert "stores has no dynamic key 'south'." in read(answer).text


@pytest.mark.parametrize("address", [ADD, "/keys/remove?asset=stores&key=north"])
def test_a_viewer_only_reads(visitor_of, stores, address):
    viewer = visitor_of(roles.VIEWER)
    assert viewer.post(address, {"asset": "stores", "keys": "k"}).status_code == 403
    assert "Add keys…" not in read(viewer.get("/assets/stores")).links
