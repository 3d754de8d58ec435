"""How the API describes itself: OpenAPI 3.1, and pages to browse it that need no network."""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import OpenApiResponse, PolymorphicProxySerializer
from drf_spectacular.views import SpectacularJSONAPIView, SpectacularSwaggerSplitView
from rest_framework import serializers


class Detail(serializers.Serializer[Any]):
    detail = serializers.CharField(help_text="What is wrong, in a sentence")


class Away(Detail):
    request_id = serializers.CharField(help_text="The `X-Request-ID` of the answer")


class Taken(serializers.Serializer[Any]):
    reason = serializers.CharField()
    statement = serializers.CharField()
    orig_error = serializers.CharField()
    message = serializers.CharField()


class TakenDetail(serializers.Serializer[Any]):
    detail = Taken()


class ProblemOut(serializers.Serializer[Any]):
    type = serializers.CharField()
    loc = serializers.ListField(
        child=serializers.JSONField(), help_text="`body`, `query` or `path`, then the way in"
    )
    msg = serializers.CharField()
    input = serializers.JSONField(required=False)
    ctx = serializers.JSONField(required=False)


class ProblemList(serializers.Serializer[Any]):
    detail = ProblemOut(many=True)


def either(name: str, *forms: Any) -> PolymorphicProxySerializer:
    return PolymorphicProxySerializer(
        component_name=name, serializers=list(forms), resource_type_field_name=None
    )


REFUSALS: dict[int, tuple[str, Any]] = {
    400: ("The request asks for what cannot be", Detail),
    401: ("Nobody has signed in", Detail),
    403: ("Whoever has signed in may not do this", Detail),
    404: ("There is no such thing", Detail),
    409: ("It does not fit the state things are in", either("Conflict", Detail, TakenDetail)),
    413: ("The body is too long", Detail),
    415: ("The body is of a kind that is not read here", Detail),
    422: ("The request does not fit; each problem says where", either("Unprocessable", ProblemList, Detail)),
    429: ("Too many requests; `Retry-After` says in how many seconds there may be another", Detail),
    503: ("The database is away; `Retry-After` says in how many seconds to ask again", Away),
}

ALWAYS = (401, 403, 429, 503)
"""What every address that looks at credentials may answer."""

RETRY_AFTER = {"Retry-After": {"schema": {"type": "integer", "minimum": 1}, "description": "Seconds to wait"}}


def gives(
    out: Any, status: int = 200, *, refusals: Sequence[int] = (), always: Sequence[int] = ALWAYS
) -> dict[int, Any]:
    """The answers of one operation: `out` with `status`, and the refusals it knows."""
    known = refused(*refusals, always=always)
    return {status: OpenApiResponse(out, "") if out is None else out} | known


def refused(*refusals: int, always: Sequence[int] = ALWAYS) -> dict[Any, Any]:
    """The refusals that an operation knows."""
    return {
        code: OpenApiResponse(REFUSALS[code][1], REFUSALS[code][0]) for code in sorted({*refusals, *always})
    }


def say_when_to_come_back(result: Any, **_: Any) -> Any:
    """Every refusal that passes by itself says when, in a header: a hook of drf-spectacular."""
    for methods in result["paths"].values():
        for operation in methods.values():
            for code in {"429", "503"} & operation["responses"].keys():
                operation["responses"][code].setdefault("headers", {}).update(RETRY_AFTER)
    return result


class OpenApi(SpectacularJSONAPIView):
    """`/api/v2/openapi.json`."""

    authentication_classes = ()
    permission_classes = ()


class Docs(SpectacularSwaggerSplitView):
    """`/docs`: the page and, as an address of its own, its script, so that a strict policy lets it run."""

    authentication_classes = ()
    permission_classes = ()
    url_name = "openapi"
    template_name = "api/docs.html"
