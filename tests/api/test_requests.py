"""A deed names the request that it was done in: from a line of the log, or an answer, to the journal."""

import pytest

from core.models import JournalEntry
from partitions_site import roles
from scheduling import journal
from scheduling.journal import ENGINE
from tests.engine.world import NOW

pytestmark = pytest.mark.django_db


class TestRequests:
    def test_an_answer_and_its_entry_have_the_same_name(self, api, lab):
        answer = api.post("/api/v2/dags/lab_plain/dagRuns", {}, HTTP_X_REQUEST_ID="proxy-7")
        assert answer.headers["X-Request-ID"] == "proxy-7"
        told = api.get("/api/v2/eventLogs?request_id=proxy-7").json()
        assert [each["event"] for each in told["event_logs"]] == ["trigger_dag_run"]
        assert told["event_logs"][0]["request_id"] == "proxy-7"
        assert api.get("/api/v2/eventLogs?request_id=other").json()["total_entries"] == 0

    def test_a_name_that_is_made_up_is_kept_as_well(self, api, lab):
        named = api.patch("/api/v2/dags/lab_plain", {"is_paused": True}).headers["X-Request-ID"]
        assert JournalEntry.objects.latest("pk").request_id == named

    def test_a_page_is_a_request_too(self, client, lab, user_of):
        client.force_login(user_of(roles.OPERATOR))
        answer = client.post("/pause", {"dag": "lab_plain", "paused": "yes"})
        assert JournalEntry.objects.latest("pk").request_id == answer.headers["X-Request-ID"]
        page = client.get(f"/journal?request={answer.headers['X-Request-ID']}").content.decode()
        assert "dag paused" in page
        assert "dag paused" not in client.get("/journal?request=other").content.decode()

    def test_the_engine_has_none(self, api):
        journal.note("worker lost", deed=ENGINE, at=NOW)
        assert JournalEntry.objects.get().request_id == ""
        assert api.get("/api/v2/eventLogs").json()["event_logs"][0]["request_id"] is None

    @pytest.mark.parametrize(("order", "names"), [("extra", ["b", "a"]), ("-extra", ["a", "b"])])
    def test_entries_are_ordered_by_what_else_they_say(self, api, order, names):
        for name, count in (("a", 2), ("b", 1)):
            journal.note(name, deed=ENGINE, at=NOW, count=count)
        rows = api.get(f"/api/v2/eventLogs?order_by={order}").json()["event_logs"]
        assert [each["event"] for each in rows] == names
