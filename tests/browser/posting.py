"""Events as a program reports them while somebody looks."""

from tests.installed import Installation

DAY = "2026-03-10"


def post(installation: Installation, *hours: int, day: str = DAY) -> None:
    for hour in hours:
        post_key(installation, f"{day}T{hour:02}:00:00", {"rows": hour})


def post_key(installation: Installation, key: str, extra: dict[str, object]) -> None:
    assets = installation.request("GET", "/api/v2/assets?name_pattern=hourly_sales")[1]["assets"]
    event = {"asset_id": assets[0]["id"], "partition_key": key, "extra": extra}
    status, answer = installation.request("POST", "/api/v2/assets/events", event)
    assert status == 200, answer
