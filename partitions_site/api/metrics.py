"""`/metrics`, as Prometheus reads it: the text format of exposition, version 0.0.4."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf, isinf, isnan
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from drf_spectacular.utils import OpenApiTypes, extend_schema
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from partitions_site.api.auth import SITE, Address
from partitions_site.api.schema import refused
from scheduling import gauges
from scheduling.gauges import Gauge, Sample

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics(Address):
    """`/metrics`: for whoever has a token, or for anybody where `PARTITA_METRICS_OPEN` says so."""

    within = SITE

    def get_authenticators(self) -> list[BaseAuthentication]:
        return [] if settings.METRICS_OPEN else super().get_authenticators()

    def get_permissions(self) -> Sequence[Any]:
        return [] if settings.METRICS_OPEN else super().get_permissions()

    @extend_schema(
        operation_id="get_metrics",
        summary="Numbers for Prometheus",
        responses={(200, "text/plain"): OpenApiTypes.STR} | refused(),
    )
    def get(self, request: Request) -> HttpResponse:
        found = [*gauges.read(now=timezone.now()), _build()]
        return HttpResponse(written(found), content_type=CONTENT_TYPE)


def written(found: Sequence[Gauge]) -> str:
    """Gauges as text: two lines of explanation for each, and a line for each sample."""
    return "".join(f"{line}\n" for gauge in found for line in _lines(gauge))


def _lines(gauge: Gauge) -> Iterator[str]:
    words = gauge.words.replace("\\", "\\\\").replace("\n", "\\n")
    yield f"# HELP {gauge.name} {words}"
    yield f"# TYPE {gauge.name} gauge"
    for sample in gauge.samples:
        yield f"{gauge.name}{_labels(sample.labels)} {_number(sample.value)}"


def _labels(labels: Mapping[str, str]) -> str:
    pairs = (f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{','.join(pairs)}}}" if labels else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    if isnan(value):
        return "NaN"
    if isinf(value):
        return "+Inf" if value == inf else "-Inf"
    return str(int(value)) if value == int(value) else repr(value)


def _build() -> Gauge:
    return Gauge(
        "partita_build_info", "The version that answers", (Sample(1, {"version": settings.VERSION}),)
    )
