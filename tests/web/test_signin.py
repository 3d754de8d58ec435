from urllib.parse import urlencode

import pytest

from partitions_site import roles
from tests.web.reading import read

pytestmark = pytest.mark.django_db


@pytest.fixture
def name(user_of):
    return user_of(roles.VIEWER).username


def enter(client, **fields):
    return client.post("/sign-in", {"username": "viewer", "password": "viewer-secret", **fields})


class TestSignIn:
    def test_leads_to_the_page_that_was_asked_for(self, client, name):
        asked = client.get("/held?dag=sum")
        form = read(client.get(asked["Location"]))
        response = enter(client, next=form.fields["next"])
        assert (response.status_code, response["Location"]) == (302, "/held?dag=sum")
        assert client.get("/held").status_code == 200

    @pytest.mark.parametrize(
        ("page", "back"),
        [
            ("http://testserver/assets/hourly?key=9", "/assets/hourly?key=9"),
            ("http://a.example/held", "/"),
            (None, "/"),
        ],
    )
    def test_leads_back_to_the_page_on_which_a_form_stood(self, client, page, back):
        sent = client.post("/record", {"asset": "hourly"}, headers={"Referer": page} if page else {})
        assert sent["Location"] == f"/sign-in?{urlencode({'next': back})}"

    def test_gives_the_session_another_name(self, client, name):
        """Whoever has made a browser keep a name of theirs does not come in with it."""
        session = client.session
        session["chosen"] = "by somebody else"
        session.save()
        fixed = client.cookies["sessionid"].value
        enter(client)
        assert client.cookies["sessionid"].value != fixed
        client.cookies["sessionid"] = fixed
        assert client.get("/held").status_code == 302

    def test_a_wrong_password_is_said_and_lets_nobody_in(self, client, name):
        response = enter(client, password="guess")
        assert response.status_code == 422
        assert read(response).all("p", role="alert")
        assert client.get("/held").status_code == 302

    def test_the_name_stays_and_the_password_goes(self, client, name):
        fields = read(enter(client, password="guess")).fields
        assert fields["username"] == "viewer"
        assert fields["password"] == ""

    def test_one_types_where_something_is_missing(self, client, name):
        def ready(response):
            fields = [each.attributes for each in read(response).all("input")]
            return [each["name"] for each in fields if "autofocus" in each]

        assert ready(client.get("/sign-in")) == ["username"]
        refused = enter(client, password="guess")
        assert ready(refused) == ["password"]
        assert "This name and this password" in read(refused).text

    @pytest.mark.parametrize("elsewhere", ["https://example.com/", "//example.com", "javascript:alert(1)"])
    def test_never_leads_to_another_site(self, client, name, elsewhere):
        assert enter(client, next=elsewhere)["Location"] == "/"

    def test_whoever_is_in_goes_on(self, client, name):
        enter(client)
        assert client.get("/sign-in?next=/runs")["Location"] == "/runs"

    def test_a_login_that_was_ended_lets_nobody_in(self, client, user_of):
        user = user_of(roles.VIEWER)
        user.is_active = False
        user.save()
        assert enter(client).status_code == 422


class TestSignOut:
    def test_ends_the_session(self, client, name):
        enter(client)
        assert client.post("/sign-out").status_code == 302
        assert client.get("/held").status_code == 302

    def test_a_link_cannot_do_it(self, client, name):
        enter(client)
        assert client.get("/sign-out").status_code == 405
        assert client.get("/held").status_code == 200


class TestTheme:
    @pytest.mark.parametrize("theme", ["light", "dark"])
    def test_is_kept_and_shown(self, visitor, theme):
        response = visitor.post("/theme", {"theme": theme, "next": "/runs"})
        assert response["Location"] == "/runs"
        [html] = read(visitor.get("/runs")).all("html")
        assert html.attributes["data-theme"] == theme

    def test_can_be_left_to_the_device_again(self, visitor):
        visitor.post("/theme", {"theme": "dark"})
        visitor.post("/theme", {"theme": ""})
        [html] = read(visitor.get("/runs")).all("html")
        assert "data-theme" not in html.attributes

    def test_anything_else_is_nobodys_theme(self, visitor):
        visitor.cookies["theme"] = '"><script>'
        [html] = read(visitor.get("/runs")).all("html")
        assert "data-theme" not in html.attributes
