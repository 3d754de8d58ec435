"""Records in Django's admin: they are looked at, and tell by name what they belong to.

What changes them does more than write a row, and the journal says who did it: no record is written here.
"""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from core import models
from scheduling.algebra.errors import PartitionError

if TYPE_CHECKING:
    _Admin = admin.ModelAdmin[Any]
else:  # Django's own class knows no parameter
    _Admin = admin.ModelAdmin


class Record(_Admin):
    """What is recorded: looked at, never written."""

    actions = None
    list_per_page = 50
    show_full_result_count = False

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        raise PartitionError(f"{obj} is a record: it is not written here")

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        raise PartitionError(f"{obj} is a record: it is not taken away here")

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        raise PartitionError("these are records: they are not taken away here")

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> Any:
        """A refusal of the engine is a sentence above the form, which is there again."""
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except PartitionError as refusal:
            return self._refused(request, refusal)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> Any:
        try:
            return super().delete_view(request, object_id, extra_context)
        except PartitionError as refusal:
            return self._refused(request, refusal)

    def _refused(self, request: HttpRequest, refusal: PartitionError) -> HttpResponse:
        messages.error(request, str(refusal))
        return HttpResponseRedirect(request.path)


class Listed(Record):
    """A record whose list shows its first columns, newest first; what it belongs to by name."""

    ordering = ("-pk",)

    def get_list_display(self, request: HttpRequest) -> tuple[Any, ...]:
        return tuple(_column(each) for each in self._shown())

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        joined = [each for each in self._shown() if each.is_relation]
        whole = [
            f"{each.name}__{NAMED[each.related_model][0]}" for each in joined if each.related_model in NAMED
        ]
        rows = super().get_queryset(request)
        return rows.select_related(*(each.name for each in joined), *whole) if joined else rows

    def _shown(self) -> list[Any]:
        hidden = ("AutoField", "BigAutoField", "JSONField")
        return [each for each in self.model._meta.fields if each.get_internal_type() not in hidden][:7]


NAMED: dict[Any, tuple[str, str]] = {
    models.AssetEvent: ("asset", "partition_key"),
    models.DagRun: ("dag", "run_id"),
    models.HeldRun: ("dag", "partition_key"),
    models.Partition: ("asset", "key"),
}
"""What tells rows of a kind apart for a person, where their own words have numbers of rows."""


def _column(field: Any) -> Any:
    """The column of a list for `field`: its name, or what says the row that it leads to in words."""
    if not field.is_relation or field.related_model not in NAMED:
        return field.name

    @admin.display(description=field.verbose_name, ordering=field.name)
    def named(row: Model) -> str:
        other = getattr(row, field.name)
        return (
            " ".join(str(getattr(other, name) or "") for name in NAMED[field.related_model]) if other else "-"
        )

    return named


OWN = (models.Pool, models.Dag)
INNER: tuple[type[Model], ...] = (
    *(models.Bell, models.Pulse, models.Drawing, models.DrawnBlock),
    *(models.EventCount, models.RunCount, models.EntryCount, models.FailedAttempt),
    *(models.BackfillTarget, models.ConsumedEvent, models.ReceivedKey),
)
"""What the engine and the pages keep for themselves: it tells an admin nothing that a page does not."""

RECORDS: tuple[type[Model], ...] = tuple(
    found
    for name in models.__all__
    if isinstance(found := getattr(models, name), type)
    and issubclass(found, Model)
    and found not in (*OWN, *INNER)
)
admin.site.register(RECORDS, Listed)
