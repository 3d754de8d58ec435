"""Definition files that do not load, in the shape that Airflow's clients know: `/api/v2/importErrors`."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import DefinitionSource
from partitions_site.api.auth import SITE, Address
from partitions_site.api.fields import Always, Instant
from partitions_site.api.filters import Pattern, Prefix
from partitions_site.api.pages import Listing


class ImportErrorOut(serializers.Serializer[Any]):
    import_error_id = serializers.IntegerField(source="pk")
    timestamp = Instant(source="loaded_at", help_text="When it was tried last")
    filename = serializers.CharField(source="name")
    bundle_name = Always(None)
    stack_trace = serializers.SerializerMethodField()

    def get_stack_trace(self, source: DefinitionSource) -> str:
        return source.traceback or source.error


IMPORT_ERRORS = Listing(
    noun="import_errors",
    out=ImportErrorOut,
    orders={"id": "id", "import_error_id": "id", "timestamp": "loaded_at", "filename": "name"},
    filters=[Pattern("filename", "name"), Prefix("filename", "name")],
)


class ImportErrors(Address):
    """`/api/v2/importErrors`."""

    within = SITE

    @IMPORT_ERRORS.described("get_import_errors", "Definition files that do not load")
    def get(self, request: Request) -> Response:
        return IMPORT_ERRORS.answer(request, DefinitionSource.objects.exclude(error=""))
