"""Events as a program reports them while somebody looks."""

from tests.installed import Installation

DAY = "2026-03-10"


def post(installation: Installation, *hours: int, day: str = DAY) -> None:
    assets = installation.request("GET", "/api/v2/assets?name_pattern=hourly_sales")[1]["assets"]
    for hour in hours:
        event = {
            "asset_id": assets[0]["id"],
            "partition_key": f"{day}T{hour:02}:00:00",
            "extra": {"rows": hour},
        }
        status, answer = installation.request("POST", "/api/v2/assets/events", event)
        assert status == 200, answer
