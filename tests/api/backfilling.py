"""Backfills of a Dag `load`, asked for over the API."""

URL = "/api/v2/backfills"
HOURS = {
    "dag_id": "lab_hourly_sales",
    "from_date": "2026-02-18T00:00:00Z",
    "to_date": "2026-02-18T02:00:00Z",
}


def planned(api, status=200, **body):
    answer = api.post(f"{URL}/dry_run", {"dag_id": "load"} | body)
    assert answer.status_code == status, answer.json()
    return answer.json()


def begun(api, status=200, **body):
    answer = api.post(URL, {"dag_id": "load"} | body)
    assert answer.status_code == status, answer.json()
    return answer.json()


def keys(answer):
    return [row["partition_key"] for row in answer["backfills"]]
