"""Bodies of requests: read, or refused before anything is made of them."""

import json

import pytest
from rest_framework.test import APIRequestFactory

from partitions_site.api import parsing
from partitions_site.api.auth import OpenAddress


class Echo(OpenAddress):
    parser_classes = (parsing.JsonBody, parsing.NdjsonBody)

    def post(self, request):
        from rest_framework.response import Response

        return Response(request.data)


def posted(body, media_type="application/json"):
    request = APIRequestFactory().generic("POST", "/echo", body, content_type=media_type)
    return Echo.as_view()(request)


class TestBody:
    def test_is_read(self):
        assert posted(b'{"a": [1, 2.5, null, "\xc3\xa9"]}').data == {"a": [1, 2.5, None, "é"]}

    @pytest.mark.parametrize(
        "body",
        [
            b"{",
            b"\xff",
            b'{"a": NaN}',
            b'{"a": 1e400}',
            b'{"a": -1e400}',
            b'{"a": "\\u0000"}',
            b'{"\\u0000": 1}',
            b'{"a": "\\ud800"}',
            b"[" * 100_000,
            b"[" * 60 + b"]" * 60,
            b'{"a": ' + b"9" * 5000 + b"}",
        ],
        ids=lambda body: repr(body[:12]),
    )
    def test_is_refused_if_it_cannot_be_read_or_kept(self, body):
        answer = posted(body)
        assert answer.status_code == 422
        assert answer.data["detail"][0]["type"] == "json_invalid"

    @pytest.mark.parametrize(
        "made", [lambda most: [0] * most, lambda most: dict.fromkeys(map(str, range(most)))]
    )
    def test_has_so_many_items_and_no_more(self, made):
        """Millions of short ones fit into the longest body, and each would be read by a field of its own."""
        assert posted(json.dumps({"a": made(parsing.MOST_ITEMS)})).status_code == 200
        [problem] = posted(json.dumps({"a": made(parsing.MOST_ITEMS + 1)})).data["detail"]
        assert (problem["type"], "at most 20000 are read" in problem["ctx"]["error"]) == (
            "json_invalid",
            True,
        )

    def test_has_so_many_lines_and_no_more(self):
        lines = b"1\n" * (parsing.MOST_ITEMS + 1)
        [problem] = posted(lines, "application/x-ndjson").data["detail"]
        assert problem["ctx"]["error"] == "20001 lines; at most 20000 are read"

    def test_is_refused_if_it_is_too_long(self, settings):
        settings.API_BODY_LIMIT = 20
        assert posted(json.dumps("x" * 18)).status_code == 200
        answer = posted(json.dumps("x" * 19))
        assert answer.status_code == 413
        assert "20" in answer.data["detail"]

    def test_is_not_read_past_the_limit_whatever_its_length_is_said_to_be(self, settings):
        settings.API_BODY_LIMIT = 20

        class Endless:
            taken = 0

            def read(self, size):
                self.taken += size
                return b"x" * size

        stream = Endless()
        with pytest.raises(parsing.TooLarge):
            parsing.JsonBody().parse(stream, parser_context={})
        assert stream.taken == 21

    def test_of_another_kind_is_refused(self):
        assert posted(b"<a/>", "application/xml").status_code == 415

    def test_may_be_a_value_a_line(self):
        assert posted(b'{"a": 1}\n\n{"a": 2}\n', "application/x-ndjson").data == [{"a": 1}, {"a": 2}]

    def test_says_which_line_cannot_be_read(self):
        answer = posted(b'{"a": 1}\n{"a": \n', "application/x-ndjson")
        assert answer.data["detail"][0]["loc"] == ["body", 1]


@pytest.mark.parametrize("pk", [2**63, -(2**63) - 1, 10**30])
def test_a_number_that_no_row_can_have_is_refused(api, pk):
    for url, body in (("events", {"asset_id": pk}), ("events/bulk", [{"asset_id": pk}])):
        assert api.post(f"/api/v2/assets/{url}", body).status_code == 422
    assert api.get(f"/api/v2/assets/{pk}").status_code == 422
