"""How a Dag listens, read and changed over the API."""

import pytest

from core.models import Dag, DagRun, JournalEntry
from partitions_site import roles
from tests.api.scheduled import DAY, URL, body
from tests.engine.world import HOURS_TO_DAY

pytestmark = pytest.mark.django_db


class TestReading:
    def test_says_what_counts_and_who_says_so(self, schedule):
        assert {
            name: schedule[name] for name in ("dag_id", "origin", "overridden_by", "reason", "history")
        } == {
            "dag_id": "lab_daily_sales",
            "origin": "code",
            "overridden_by": None,
            "reason": None,
            "history": [],
        }
        assert schedule["schedule"] == schedule["code"]
        assert schedule["schedule"]["default_mapper"]["window"]["type"] == "DayWindow"

    def test_has_its_revision_for_a_tag(self, admin, schedule):
        assert admin.get(URL).headers["ETag"] == f'"{schedule["revision"]}"'

    def test_is_for_everybody_who_has_signed_in(self, api_of, lab):
        assert api_of(roles.VIEWER).get(URL).status_code == 200

    def test_says_what_is_known_of_agreement(self, schedule, admin):
        assert schedule["agreement"] == []
        told = admin.get("/api/v2/dags/lab_and_of_three/schedule").json()["agreement"]
        assert {each["severity"] for each in told} <= {"unknown", "warning", "error"}

    def test_of_a_dag_that_listens_to_nothing_says_so(self, admin, lab):
        nothing = admin.get("/api/v2/dags/lab_plain/schedule").json()
        assert (nothing["schedule"], nothing["code"], nothing["history"]) == (None, None, [])
        told = admin.get("/api/v2/dags/lab_hourly_sales/schedule").json()
        assert (told["is_changeable"], told["schedule"]["type"]) == (False, "CronPartitionTimetable")
        assert admin.get("/api/v2/dags/lab_plain/schedule").json()["schedule"] is None

    def test_of_no_dag_is_404(self, admin, lab):
        assert admin.get("/api/v2/dags/nothing/schedule").status_code == 404


class TestChanging:
    def test_counts_at_once_and_fires_what_may(self, admin, schedule, emit, settle):
        emit("hourly_sales", *DAY[:23])
        changed = admin.put(URL, body(schedule))
        assert changed.status_code == 200
        told = changed.json()
        assert (told["origin"], told["overridden_by"], told["reason"]) == (
            "override",
            "admin",
            "Sundays have 23",
        )
        assert told["revision"] == schedule["revision"] + 1
        assert changed.headers["ETag"] == f'"{told["revision"]}"'
        assert told["code"] == schedule["schedule"]
        settle()
        assert DagRun.objects.get(dag__dag_id="lab_daily_sales").partition_key == "2026-03-10"

    def test_is_written_in_the_journal_in_the_name_of_who_asked(self, admin, schedule):
        admin.put(URL, body(schedule))
        entry = JournalEntry.objects.get(event="schedule changed")
        assert (entry.by, entry.via, entry.reason) == ("admin", "api", "Sundays have 23")
        [told] = admin.get(URL).json()["history"]
        assert (told["by"], told["was"], told["reason"]) == ("admin", schedule["schedule"], "Sundays have 23")

    def test_takes_the_tag_for_the_revision(self, admin, schedule):
        asked = body(schedule)
        del asked["revision"]
        tag = f'"{schedule["revision"]}"'
        assert admin.put(URL, asked, headers={"If-Match": tag}).status_code == 200
        assert admin.put(URL, asked, headers={"If-Match": tag}).status_code == 409

    def test_back_to_the_file(self, admin, schedule):
        changed = admin.put(URL, body(schedule)).json()
        back = {"schedule": None, "reason": "enough", "revision": changed["revision"]}
        told = admin.put(URL, back).json()
        assert (told["origin"], told["schedule"]) == ("code", schedule["schedule"])

    def test_of_two_the_second_is_told_what_the_first_changed(self, admin, schedule):
        assert admin.put(URL, body(schedule)).status_code == 200
        other = body(schedule, HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": 20}})
        answer = admin.put(URL, other)
        assert answer.status_code == 409
        assert "admin changed default_mapper.wait_policy: not set → " in answer.json()["detail"]
        assert admin.get(URL).json()["schedule"]["default_mapper"]["wait_policy"]["n"] == -1

    @pytest.mark.parametrize(
        ("mapper", "loc"),
        [
            ({"type": "Nothing"}, ["default_mapper", "type"]),
            (HOURS_TO_DAY | {"window": {"type": "DayWindow", "members": "week"}},
             ["default_mapper", "window", "members"]),
            ({"type": "ProductMapper", "mappers": [{"type": "IdentityMapper"}, {"type": "Nothing"}]},
             ["default_mapper", "mappers", 1, "type"]),
            ("text", ["default_mapper"]),
        ],
    )  # fmt: skip
    def test_to_what_cannot_be_says_where_it_is_wrong(self, admin, schedule, mapper, loc):
        answer = admin.put(URL, body(schedule, mapper))
        assert answer.status_code == 422
        [problem] = answer.json()["detail"]
        assert problem["loc"] == ["body", "schedule", *loc]
        assert Dag.objects.get(dag_id="lab_daily_sales").revision == schedule["revision"]

    @pytest.mark.parametrize(
        ("fields", "loc"),
        [
            ({"reason": "  "}, ["body", "reason"]),
            ({"revision": None}, ["body", "revision"]),
            ({"schedule": [1]}, ["body", "schedule"]),
            ({"colour": "red"}, ["body", "colour"]),
        ],
    )
    def test_that_does_not_fit_is_refused(self, admin, schedule, fields, loc):
        answer = admin.put(URL, body(schedule) | fields)
        assert answer.status_code == 422
        assert answer.json()["detail"][0]["loc"] == loc

    def test_of_a_cadence_is_refused(self, admin, lab):
        asked = {"schedule": {"type": "PartitionedAtRuntime"}, "reason": "x", "revision": 1}
        answer = admin.put("/api/v2/dags/lab_hourly_sales/schedule", asked)
        assert answer.status_code == 400
        assert "changed there" in answer.json()["detail"]

    @pytest.mark.parametrize("role", [roles.VIEWER, roles.OPERATOR, roles.EDITOR])
    def test_is_for_admins(self, api_of, schedule, role):
        assert api_of(role).put(URL, body(schedule)).status_code == 403
