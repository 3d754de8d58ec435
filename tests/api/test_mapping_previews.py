"""What a mapper makes of keys, and what another schedule would do, asked over the API."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from core.models import Dag, DagRun, HeldRun, JournalEntry
from partitions_site import roles
from scheduling import configuration
from tests.api.scheduled import DAY, URL, body, proposal
from tests.engine.world import HOURS_TO_DAY, REGIONS, consumer
from tests.engine.world import emit as report

pytestmark = pytest.mark.django_db
PREVIEW = "/api/v2/dags/lab_daily_sales/mapping/preview"


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
        emit("hourly_sales", *DAY[:5])
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
        emit("hourly_sales", *DAY[:23])
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
        emit("hourly_sales", DAY[0])
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
        emit("hourly_sales", *DAY[:3])
        entries = JournalEntry.objects.count()
        admin.post(PREVIEW, {"schedule": proposal(schedule)})
        assert JournalEntry.objects.count() == entries
        assert configuration.told(Dag.objects.get(dag_id="lab_daily_sales")).origin == "code"
