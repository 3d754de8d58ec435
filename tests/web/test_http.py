"""What an address of a page answers: a whole page or a part, under the policy, kindly where it cannot."""

import json
from urllib.parse import urlencode

import pytest
from django.conf import settings

from partitions_site import roles
from partitions_site.web.http import whole
from scheduling import runs
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, consumer, emit, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db


class TestAnswer:
    def test_a_browser_gets_the_whole_page(self, visitor):
        response = visitor.get("/held")
        assert read(response).all("html")
        assert "HX-Target" in response["Vary"]

    def test_htmx_gets_the_part_it_wants_to_swap(self, visitor):
        page = read(visitor.part("/held", "rows"))
        assert page.all("html") == []
        assert page.elements[0].attributes["id"] == "rows"

    def test_a_part_that_the_page_does_not_have_is_the_whole_page(self, visitor):
        assert read(visitor.part("/held", "../../../settings")).all("html")

    def test_going_back_in_history_gets_the_whole_page(self, visitor):
        response = visitor.part("/held", "rows", **{"HX-History-Restore-Request": "true"})
        assert read(response).all("html")

    @pytest.mark.parametrize(
        ("address", "target"),
        [
            ("/", "now"),
            ("/held", "rows"),
            ("/dags", "rows"),
            ("/dags/sum", "now"),
            ("/runs", "rows"),
            ("/assets/hourly", "board"),
            ("/assets/hourly?key=x", "panel"),
            ("/definitions", "now"),
            ("/journal", "rows"),
            ("/health", "now"),
            ("/health", "pulse"),
        ],
    )
    def test_what_a_part_says_twice_is_sent_once(self, visitor, address, target):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        first = visitor.part(address, target)
        assert first.status_code == 200
        second = visitor.part(address, target, **{"If-None-Match": first["ETag"]})
        assert (second.status_code, second.content) == (304, b"")
        assert second["ETag"] == first["ETag"]

    def test_a_part_that_says_something_new_is_sent(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        first = visitor.part("/held", "rows")
        emit("hourly", "2026-03-09T01:00:00")
        turn()
        assert visitor.part("/held", "rows", **{"If-None-Match": first["ETag"]}).status_code == 200

    def test_nothing_is_kept_by_anybody_between(self, visitor):
        assert visitor.get("/held")["Cache-Control"] == "private, no-cache"

    def test_no_part_holds_a_secret_that_changes_with_every_answer(self, visitor):
        """Such a part would never be the same twice, and would give the token to a shared cache."""
        consumer("sum", {"hourly": HOURS_TO_DAY})
        for address, target in (("/dags/sum", "now"), ("/held", "rows"), ("/", "now")):
            assert "csrf" not in visitor.part(address, target).content.decode()


class TestPolicy:
    @pytest.mark.parametrize(
        "address", ["/", "/held", "/dags/sum", "/assets/hourly", "/trigger?dag=sum", "/health"]
    )
    def test_no_page_has_an_inline_script_or_style(self, visitor, address):
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("hourly", "2026-03-09T01:00:00")
        turn()
        page = read(visitor.get(address))
        assert [each.text for each in page.all("script") if "src" not in each.attributes] == []
        assert page.all("style") == []
        inline = ("style", "onclick", "onload", "onsubmit", "hx-on")
        assert [each for each in page.elements if any(name in each.attributes for name in inline)] == []

    def test_no_picture_has_a_style_of_its_own(self):
        """A picture that is fetched has the policy too, and the console of each page would complain."""
        pictures = list(settings.STATICFILES_DIRS[0].glob("*.svg"))
        assert pictures
        assert [each for each in pictures if "style" in each.read_text()] == []

    def test_everything_comes_from_this_site(self, visitor):
        page = read(visitor.get("/"))
        sources = [each.attributes.get("src") or each.attributes.get("href") for each in page.elements]
        assert [source for source in sources if source and "//" in source] == []


class TestErrors:
    @pytest.mark.parametrize(
        "address", ["/nowhere", "/assets/nothing", "/dags/nothing", "/held/9", "/runs/9"]
    )
    def test_what_is_not_there_is_said_kindly(self, visitor, address):
        response = visitor.get(address)
        assert response.status_code == 404
        assert "Nothing here" in response.content.decode()

    @pytest.mark.parametrize("address", ["/nowhere", "/held/9"])
    def test_whoever_is_in_keeps_the_menu(self, visitor, address):
        page = read(visitor.get(address))
        assert "Held runs" in [link.text for link in page.all("a", href="/held")]

    def test_nobody_else_is_shown_one(self, client):
        assert read(client.get("/nowhere")).all("a", href="/held") == []

    def test_an_icon_is_where_browsers_look_for_one(self, client):
        assert client.get("/favicon.ico")["Location"].endswith("mark.svg")

    def test_an_old_form_is_refused_with_the_way_on(self, visitor_of):
        visitor = visitor_of(roles.OPERATOR)
        visitor.handler.enforce_csrf_checks = True
        response = visitor.post("/pause", {"dag": "sum"})
        assert response.status_code == 403
        assert "That form was too old" in response.content.decode()

    @pytest.mark.parametrize("method", ["put", "delete", "patch"])
    def test_other_methods_are_refused(self, visitor, method):
        assert getattr(visitor, method)("/held").status_code == 405


@pytest.mark.parametrize(
    ("text", "number"),
    [("12", 12), ("0", 0), (None, 0), ("", 0), ("-1", 0), ("1e3", 0), ("²", 0), ("9" * 40, 0), (" 1", 0)],
)
def test_a_number_in_an_address_is_read_or_ignored(text, number):
    assert whole(text) == number


class TestADeedDoneInADialog:
    def ask(self, visitor, address, page):
        headers = {"HX-Request": "true", "HX-Target": "dialog", "HX-Current-URL": f"http://testserver{page}"}
        return visitor.post(address, {"asset": "hourly", "key": "k"}, headers=headers)

    def test_leaves_the_page_where_it_was_asked(self, visitor):
        world.asset("hourly")
        answer = self.ask(visitor, "/record", "/assets/hourly?zoom=2026")
        assert answer.status_code == 204
        assert json.loads(answer["HX-Trigger"]) == {
            "done": {"words": "Recorded an event of hourly, partition k."}
        }

    def test_says_who_cannot_count_what_was_recorded(self, visitor):
        world.consumer("sum", {"hourly": world.HOURS_TO_DAY})
        words = json.loads(self.ask(visitor, "/record", "/assets/hourly")["HX-Trigger"])["done"]["words"]
        assert words.startswith("Recorded an event of hourly, partition k. sum cannot count it: ")
        assert "'k'" in words

    def test_says_it_once(self, visitor):
        world.asset("hourly")
        self.ask(visitor, "/record", "/assets/hourly")
        assert "Recorded an event" not in read(visitor.get("/assets/hourly")).text

    def test_goes_on_to_another_page(self, visitor):
        world.asset("hourly")
        assert self.ask(visitor, "/record", "/held/1")["HX-Redirect"] == "/assets/hourly?key=k"


class TestBackTo:
    @pytest.mark.parametrize(
        ("back", "where"),
        [
            ("/assets/daily?key=k", "/assets/daily?key=k"),
            ("", "/runs/{pk}"),
            ("https://elsewhere.example/", "/runs/{pk}"),
            ("//elsewhere.example/", "/runs/{pk}"),
            ("javascript:alert(1)", "/runs/{pk}"),
        ],
    )
    def test_stays_on_this_site(self, visitor, back, where):
        run = runs.trigger(world.dag("d"), Ask(), deed=ALICE, at=NOW)
        answer = visitor.post(f"/runs/{run.pk}/cancel?{urlencode({'back': back})}")
        assert answer["Location"] == where.format(pk=run.pk)
