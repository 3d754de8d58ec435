"""Backfills of a Dag `load`, asked for over the API."""

URL = "/api/v2/backfills"


def planned(api, status=200, **body):
    answer = api.post(f"{URL}/dry_run", {"dag_id": "load"} | body)
    assert answer.status_code == status, answer.json()
    return answer.json()


def begun(api, status=200, **body):
    answer = api.post(URL, {"dag_id": "load"} | body)
    assert answer.status_code == status, answer.json()
    return answer.json()
