"""How the API describes itself."""

import re
from copy import deepcopy

import pytest
from drf_spectacular.validation import validate_schema

from partitions_site.api import urls
from partitions_site.api.auth import OpenAddress
from tests.api.paper import paper


@pytest.fixture(scope="module")
def schema():
    return deepcopy(paper())


class TestSchema:
    def test_is_openapi_3_1(self, schema):
        validate_schema(schema)
        assert schema["openapi"] == "3.1.0"

    def test_has_every_address_and_method(self, schema):
        described = {(path, method) for path, methods in schema["paths"].items() for method in methods}
        assert described >= {
            ("/" + re.sub("<(?:str|path):(.*?)>", r"{\1}", str(pattern.pattern)), method)
            for pattern in urls.urlpatterns
            for method in ("get", "post", "put", "patch", "delete")
            if hasattr(pattern.callback.view_class, method)
            and method in pattern.callback.view_class.http_method_names
            and not str(pattern.pattern).endswith(("openapi.json", "docs", "<path:rest>"))
        }

    def test_has_a_name_of_its_own_for_each(self, schema):
        names = [each["operationId"] for methods in schema["paths"].values() for each in methods.values()]
        assert len(names) == len(set(names))

    def test_has_no_names_that_were_made_up_to_tell_two_apart(self, schema):
        assert [name for name in schema["components"]["schemas"] if re.search(r"\d", name)] == []

    def test_never_says_null_in_two_ways(self, schema):
        """`oneOf` takes one: anything at all or null would be two, for null."""

        def parts(node):
            yield from [node] if isinstance(node, dict) else []
            for each in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
                yield from parts(each)

        assert [each for each in parts(schema["components"]) if {} in each.get("oneOf", ())] == []

    def test_says_of_each_body_how_it_may_be_refused(self, schema):
        """Too long, of a kind that is not read, or of something else."""
        for path, methods in schema["paths"].items():
            for each in methods.values():
                assert "requestBody" not in each or each["responses"].keys() >= {"413", "415", "422"}, path

    def test_has_a_summary_for_each(self, schema):
        assert all(each["summary"] for methods in schema["paths"].values() for each in methods.values())

    def test_says_what_needs_signing_in(self, schema):
        open_views = {
            re.sub("<(?:str|path):(.*?)>", r"{\1}", str(each.pattern))
            for each in urls.urlpatterns
            if issubclass(each.callback.view_class, OpenAddress)
        }
        for path, methods in schema["paths"].items():
            for each in methods.values():
                assert ("401" in each["responses"]) == (path[1:] not in open_views) or "token" in path

    def test_calls_things_as_airflows_client_does(self, schema):
        operations = {
            each["operationId"] for methods in schema["paths"].values() for each in methods.values()
        }
        assert operations >= {
            "get_assets",
            "get_asset",
            "create_asset_event",
            "get_asset_events",
            "materialize_asset",
            "get_dags",
            "patch_dag",
            "get_dag_details",
            "get_dag_runs",
            "trigger_dag_run",
            "patch_dag_run",
            "delete_dag_run",
            "clear_dag_run",
            "get_event_logs",
            "get_version",
            "get_health",
        }


class TestPages:
    @pytest.mark.parametrize("url", ["/api/v2/openapi.json", "/openapi.json"])
    def test_the_description_is_for_everybody(self, client, url):
        answer = client.get(url)
        assert answer.status_code == 200
        assert answer.json()["info"]["title"] == "Partita"

    def test_the_page_has_nothing_inline_and_nothing_from_elsewhere(self, client):
        page = client.get("/docs").content.decode()
        assert "<style" not in page
        assert re.findall(r"<script(?! src=)", page) == []
        assert re.findall(r"(?:src|href)=\"(?!/)", page) == []

    def test_its_script_comes_from_an_address_of_its_own(self, client):
        answer = client.get("/docs?script=")
        assert answer.headers["Content-Type"] == "application/javascript"
        assert "openapi.json" in answer.content.decode()
