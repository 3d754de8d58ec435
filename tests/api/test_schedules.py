"""How a Dag listens, over the API: read, changed, previewed."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from core.models import Dag, DagRun, HeldRun, JournalEntry
from partitions_site import roles
from scheduling import configuration
from tests.engine.world import HOURS_TO_DAY, REGIONS, consumer, hours
from tests.engine.world import emit as report

pytestmark = pytest.mark.django_db
URL = "/api/v2/dags/lab_daily_sales/schedule"
PREVIEW = "/api/v2/dags/lab_daily_sales/mapping/preview"
DAY = hours("2026-03-10", *range(24))
TOLERANT = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": -1}}


@pytest.fixture
def admin(api_of):
    return api_of(roles.ADMIN)


@pytest.fixture
def schedule(admin, lab):
    return admin.get(URL).json()


@pytest.fixture
def emit(admin, lab, settle):
    def emit(*keys, asset="hourly_sales"):
        for key in keys:
            body = {"asset_id": lab[asset].pk, "partition_key": key}
            assert admin.post("/api/v2/assets/events", body).status_code == 200
        settle()

    return emit


def proposal(schedule, mapper=TOLERANT, **fields):
    return schedule["schedule"] | {"default_mapper": mapper} | fields


def body(schedule, mapper=TOLERANT, **fields):
    return {
        "schedule": proposal(schedule, mapper),
        "reason": "Sundays have 23",
        "revision": schedule["revision"],
    } | fields


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
        emit(*DAY[:23])
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


class TestTryingKeys:
    def test_says_where_they_go_and_what_is_needed_there(self, admin, lab):
        told = admin.post(PREVIEW, {"keys": ["2026-03-10T09:00:00", "tw"]}).json()
        good, bad = told["present"]
        [down] = good["downstream"]
        assert (down["key"], down["required_count"], down["required_keys"]) == ("2026-03-10", 24, DAY)
        assert down["not_counted"] == ""
        assert (bad["downstream"], "tw" in bad["problem"]) == ([], True)
        assert (told["proposed"], told["change"]) == (None, None)
        between = admin.post(PREVIEW, {"keys": ["2026-03-10T09:30:00"]}).json()["present"][0]
        assert "none of the keys" in between["downstream"][0]["not_counted"]

    def test_takes_recent_ones_if_there_are_none(self, admin, emit):
        emit(*DAY[:5])
        told = admin.post(PREVIEW, {}).json()["present"]
        assert [each["key"] for each in told] == DAY[4:1:-1]

    def test_of_one_asset(self, admin, lab):
        url = "/api/v2/dags/lab_and_of_three/mapping/preview"
        assert len(admin.post(url, {"keys": ["k"]}).json()["present"]) == 3
        [told] = admin.post(url, {"keys": ["k"], "asset": "sales_data"}).json()["present"]
        assert (told["asset_name"], told["downstream"][0]["required_count"]) == ("sales_data", None)

    def test_is_for_everybody_who_has_signed_in(self, api_of, lab):
        assert api_of(roles.VIEWER).post(PREVIEW, {"keys": ["tw"]}).status_code == 200

    def test_of_another_schedule_is_for_admins(self, api_of, schedule):
        asked = {"keys": ["tw"], "schedule": proposal(schedule)}
        assert api_of(roles.EDITOR).post(PREVIEW, asked).status_code == 403

    def test_names_no_more_than_a_hundred_of_each(self, admin, schedule):
        minutes = HOURS_TO_DAY | {"window": {"type": "DayWindow", "members": "minute"}}
        asked = {"keys": [DAY[0]], "schedule": proposal(schedule, minutes)}
        [down] = admin.post(PREVIEW, asked).json()["proposed"][0]["downstream"]
        assert (down["required_count"], len(down["required_keys"])) == (1440, 100)
        assert admin.post(PREVIEW, {"keys": ["k"] * 101}).status_code == 422


class TestTryingASchedule:
    def test_says_what_saving_it_does(self, admin, schedule, emit, settle):
        emit(*DAY[:23])
        told = admin.post(PREVIEW, {"schedule": proposal(schedule)}).json()
        change = told["change"]
        assert change["effect"]["fires"] == {"total_entries": 1, "keys": ["2026-03-10"]}
        assert change["effect"]["held"] == 1
        assert change["differences"] == ["default_mapper.wait_policy: not set → MinimumCount(n=-1)"]
        assert change["schedule"] == proposal(schedule)
        assert HeldRun.objects.held().count() == 1
        admin.put(URL, body(schedule))
        settle()
        assert DagRun.objects.filter(dag__dag_id="lab_daily_sales").count() == 1

    def test_sets_both_beside_each_other(self, admin, schedule):
        asked = {"keys": [DAY[9]], "schedule": proposal(schedule, {"type": "StartOfHourMapper"})}
        told = admin.post(PREVIEW, asked).json()
        assert told["present"][0]["downstream"][0]["key"] == "2026-03-10"
        assert told["proposed"][0]["downstream"][0]["key"] == "2026-03-10T09"

    def test_names_what_moves_and_what_is_lost(self, admin, schedule, emit):
        emit(DAY[0])
        month = {"type": "StartOfMonthMapper"}
        effect = admin.post(PREVIEW, {"schedule": proposal(schedule, month)}).json()["change"]["effect"]
        assert effect["moves"] == {"total_entries": 1, "moves": [{"key": "2026-03-10", "to": ["2026-03"]}]}
        assert effect["closes"]["keys"] == ["2026-03-10"]
        regions = {"type": "AllowedKeyMapper", "allowed_keys": ["tw"]}
        effect = admin.post(PREVIEW, {"schedule": proposal(schedule, regions)}).json()["change"]["effect"]
        assert effect["lost"]["keys"][0]["key"] == DAY[0]

    def test_tells_what_could_never_work(self, admin, lab):
        url = "/api/v2/dags/lab_and_of_three/"
        now = admin.get(f"{url}schedule").json()["schedule"]
        fixed = [
            {"asset": {"asset": name}, "mapper": {"type": "FixedKeyMapper", "downstream_key": name}}
            for name in ("sales_data", "pricing_data")
        ]
        told = admin.post(f"{url}mapping/preview", {"schedule": now | {"mapper_config": fixed}}).json()
        assert "error" in {each["level"] for each in told["change"]["problems"]}

    def test_that_cannot_be_says_where_it_is_wrong(self, admin, schedule):
        answer = admin.post(PREVIEW, {"schedule": proposal(schedule, {"type": "Nothing"})})
        assert answer.status_code == 422
        assert answer.json()["detail"][0]["loc"] == ["body", "schedule", "default_mapper", "type"]

    def test_says_until_when_what_came_late_settles(self, admin, lab, settle):
        """Saving is no event: ten minutes after the last key that came, as before."""
        consumer("report", {"regional_orders": REGIONS})
        for keys in (("tw", "jp", "us"), ("tw",)):
            report("regional_orders", *keys, at=timezone.now())
            settle()
        last = HeldRun.objects.held().get(dag__dag_id="report").last_event_at
        now = admin.get("/api/v2/dags/report/schedule").json()["schedule"]
        two = REGIONS | {"window": {"type": "SegmentWindow", "segments": ["tw", "jp"]}}
        changed = now | {"mapper_config": [now["mapper_config"][0] | {"mapper": two}]}
        told = admin.post("/api/v2/dags/report/mapping/preview", {"schedule": changed}).json()
        [settling] = told["change"]["effect"]["settles"]["keys"]
        assert settling["key"] == "all"
        assert datetime.fromisoformat(settling["until"]) == last + timedelta(minutes=10)

    def test_changes_nothing(self, admin, schedule, emit):
        emit(*DAY[:3])
        entries = JournalEntry.objects.count()
        admin.post(PREVIEW, {"schedule": proposal(schedule)})
        assert JournalEntry.objects.count() == entries
        assert configuration.told(Dag.objects.get(dag_id="lab_daily_sales")).origin == "code"
