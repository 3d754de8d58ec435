"""What the paper says of schedules is what is answered."""

import pytest
from jsonschema import Draft202012Validator

from tests.api.paper import paper

pytestmark = pytest.mark.django_db


def misfits(path, method, answer):
    content = paper()["paths"][path][method]["responses"][str(answer.status_code)]["content"]
    schema = content["application/json"]["schema"] | {"components": paper()["components"]}
    return [error.message for error in Draft202012Validator(schema).iter_errors(answer.json())]


class TestAnswers:
    path = "/api/v2/dags/{dag_id}/schedule"

    @pytest.mark.parametrize(
        "dag_id", ["lab_daily_sales", "lab_plain", "lab_hourly_sales", "lab_and_of_three"]
    )
    def test_to_a_look_fit(self, admin, lab, dag_id):
        answer = admin.get(self.path.format(dag_id=dag_id))
        assert misfits(self.path, "get", answer) == []

    def test_to_a_change_fit_whatever_comes_of_it(self, admin, lab):
        url = self.path.format(dag_id="lab_daily_sales")
        told = admin.get(url).json()
        body = {"schedule": told["schedule"] | {"late": "hold"}, "reason": "x", "revision": told["revision"]}
        answers = [
            admin.put(url, body),
            admin.put(url, body),
            admin.put(url, body | {"schedule": {"type": "Nothing"}, "revision": told["revision"] + 1}),
            admin.put(url, body | {"schedule": None, "revision": told["revision"] + 1}),
        ]
        assert [answer.status_code for answer in answers] == [200, 409, 422, 200]
        assert [misfits(self.path, "put", answer) for answer in answers] == [[], [], [], []]

    def test_to_a_preview_fit(self, admin, lab):
        path = "/api/v2/dags/{dag_id}/mapping/preview"
        told = admin.get(self.path.format(dag_id="lab_daily_sales")).json()["schedule"]
        asset = {"asset_id": lab["hourly_sales"].pk, "partition_key": "2026-03-10T09:00:00"}
        admin.post("/api/v2/assets/events", asset)
        for body in (
            {},
            {"keys": ["tw"]},
            {"keys": ["2026-03-10T09:00:00"], "schedule": told | {"late": "hold"}},
            {"schedule": told | {"default_mapper": {"type": "StartOfHourMapper"}}},
        ):
            answer = admin.post(path.format(dag_id="lab_daily_sales"), body)
            assert answer.status_code == 200
            assert misfits(path, "post", answer) == []
