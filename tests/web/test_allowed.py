"""Who may do what on the pages, and what all others are told."""

import pytest
from django.http import HttpResponse

from partitions_site import roles
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, consumer, emit, turn
from tests.web.reading import read
from tests.web.screens import OPEN, address, names

pytestmark = pytest.mark.django_db
NOT_SET_UP = {"oidc", "oidc_callback"}


class TestSignedIn:
    @pytest.mark.sqlite
    @pytest.mark.parametrize("name", names())
    def test_every_screen_asks_strangers_to_sign_in(self, client, name):
        response: HttpResponse = client.get(address(name))
        if name in NOT_SET_UP:
            assert response.status_code == 404
        elif name in OPEN:
            assert response.status_code in (200, 405)
        else:
            assert response.status_code == 302
            assert response["Location"].startswith("/sign-in?next=%2F")

    def test_a_part_sends_the_whole_browser_to_the_sign_in(self, client):
        response = client.get(
            "/held",
            headers={
                "HX-Request": "true",
                "HX-Target": "rows",
                "HX-Current-URL": "http://testserver/held?dag=sum",
            },
        )
        assert response["HX-Redirect"] == "/sign-in?next=%2Fheld%3Fdag%3Dsum"
        assert response.content == b""

    def test_a_question_sent_too_late_changes_nothing(self, client):
        made = consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", "2026-03-09T01:00:00")
        turn()
        client.post(f"/held/{world.held('sum', '2026-03-09').pk}/fire")
        assert made.runs.count() == 0


class TestAllowed:
    DEEDS = ["/record?asset=hourly", "/held/{}/fire", "/held/{}/cancel", "/trigger?dag=sum"]

    @pytest.fixture
    def held(self, db):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", "2026-03-09T01:00:00")
        turn()
        return world.held("sum", "2026-03-09")

    @pytest.mark.parametrize("deed", DEEDS)
    @pytest.mark.parametrize("method", ["get", "post"])
    def test_a_viewer_may_not(self, visitor_of, held, deed, method):
        response = getattr(visitor_of(roles.VIEWER), method)(deed.format(held.pk))
        assert response.status_code == 403
        assert "viewer may look but not do this" in response.content.decode()
        assert "Nothing was changed" in response.content.decode()

    def test_a_viewer_may_not_pause(self, visitor_of, held):
        assert visitor_of(roles.VIEWER).post("/pause", {"dag": "sum", "paused": "yes"}).status_code == 403
        assert not world.Dag.objects.get().is_paused

    def test_a_viewer_may_not_touch_runs(self, visitor_of, held):
        run = world.holds.fire_now(held, deed=world.ALICE, at=world.NOW)
        visitor = visitor_of(roles.VIEWER)
        assert visitor.post(f"/runs/{run.pk}/cancel").status_code == 403
        assert visitor.post(f"/runs/{run.pk}/retry").status_code == 403

    @pytest.mark.parametrize("deed", DEEDS)
    def test_an_operator_may(self, visitor, held, deed):
        assert visitor.get(deed.format(held.pk)).status_code == 200

    def test_for_a_viewer_the_words_of_a_deed_are_disabled_and_say_why(self, visitor_of, held):
        page = read(visitor_of(roles.VIEWER).get(f"/held/{held.pk}"))
        assert "Fire now…" not in page.links
        [fire] = [each for each in page.all("button", type="button") if each.text == "Fire now…"]
        assert fire.attributes["aria-disabled"] == "true"
        assert fire.attributes["title"] == (
            "viewer may look but not do this: it takes the right to fire and cancel held runs "
            "(core.change_heldrun), which the roles operator, editor and admin have."
        )

    def test_for_an_operator_they_are_links(self, visitor, held):
        assert read(visitor.get(f"/held/{held.pk}")).links["Fire now…"] == f"/held/{held.pk}/fire"
