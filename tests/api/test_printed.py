"""What was printed on slides and in design papers works as it stands there, letter by letter."""

import json
import os
import subprocess
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User

from core.models import AssetEvent, DagRun
from partitions_site.models import ApiToken
from scheduling.algebra import specs
from scheduling.algebra.composites import ProductMapper
from scheduling.algebra.mappers import IdentityMapper
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import StartOfDayMapper
from scheduling.algebra.windows import DayWindow
from tests.engine import world

pytestmark = pytest.mark.django_db(transaction=True)

SLIDE = """\
curl -X POST "http://$HOST/api/v2/dags/aggregate_regional_sales/dagRuns" \\
  -H "Content-Type: application/json" \\
  -d '{"partition_key": "tw|2026-03-10T09:00:00"}'
"""


@pytest.fixture
def shell(live_server, tmp_path):
    """Runs what is printed. Who asks stands in curl's own file, where people keep it."""
    user = User.objects.create_superuser("ann", password="secret")
    _, token = ApiToken.objects.create(user=user, expiry=None)
    (tmp_path / ".curlrc").write_text(f'header = "Authorization: Bearer {token}"\nsilent\nfail\n')
    variables = {**os.environ, "HOST": urlsplit(live_server.url).netloc, "CURL_HOME": str(tmp_path)}

    def shell(script):
        ran = subprocess.run(["bash", "-c", script], env=variables, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)

    return shell


class TestTriggerOnePartition:
    def test_by_hand(self, shell):
        identity = specs.dump(ProductMapper(IdentityMapper(), IdentityMapper()))
        world.consumer("aggregate_regional_sales", {"hourly_regional_sales": identity})
        answer = shell(SLIDE)
        assert answer["partition_key"] == "tw|2026-03-10T09:00:00"
        assert (answer["state"], answer["logical_date"]) == ("queued", None)
        assert DagRun.objects.get().partition_key == "tw|2026-03-10T09:00:00"

    def test_of_a_rollup_by_day_with_the_day(self, shell):
        per_day = ProductMapper(IdentityMapper(), RollupMapper(StartOfDayMapper(), DayWindow()))
        world.consumer("aggregate_regional_sales", {"hourly_regional_sales": specs.dump(per_day)})
        answer = shell(SLIDE.replace("T09:00:00", ""))
        assert answer["partition_key"] == "tw|2026-03-10"


class TestReportAnEvent:
    REPORT = 'curl "http://$HOST/api/v2/assets/events" -H "Content-Type: application/json"'
    BODY = '{\n  "asset_id": 20,\n  "partition_key": "2024-01-15"\n}'

    def test_with_the_number_and_the_key_alone(self, shell):
        made = world.asset("sales_data", pk=20)
        assert made.pk == 20
        answer = shell(f"{self.REPORT} -d '{self.BODY}'")
        assert (answer["asset_id"], answer["partition_key"]) == (20, "2024-01-15")
        assert AssetEvent.objects.get().partition_key == "2024-01-15"

    def test_three_of_which_start_their_consumer_once(self, shell):
        identity = specs.dump(IdentityMapper())
        names = ["sales_data", "inventory_data", "pricing_data"]
        for number, name in enumerate(names, 20):
            world.asset(name, pk=number)
        world.consumer("report", dict.fromkeys(names, identity))
        for number in range(20, 23):
            assert world.fired("report") == []
            body = self.BODY.replace("20,", f"{number},", 1)
            shell(f"{self.REPORT} -d '{body}'")
            world.turn()
        assert world.fired("report") == ["2024-01-15"]
