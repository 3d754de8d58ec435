"""Django's admin: users and groups are edited here, pools and schedules through `scheduling.configuration`.

All else that is recorded is only looked at: what changes it does more than write a row, and the journal says
who did it. Nothing here calls `save` or `delete` of a record.
"""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from core import models
from partitions_site import grants_admin  # noqa: F401  (registers grants)
from partitions_site.deeds import deed_of
from scheduling import configuration
from scheduling.algebra.errors import InvalidDefinition, PartitionError
from scheduling.configuration import pools
from scheduling.configuration.overriding import check_seen
from scheduling.journal import Deed

if TYPE_CHECKING:
    _Admin = admin.ModelAdmin[Any]
    _Form = forms.ModelForm[Any]
else:  # Django's own classes know no parameters
    _Admin = admin.ModelAdmin
    _Form = forms.ModelForm

CHANGE_SCHEDULE = "core.change_scheduleoverride"


def deed(request: HttpRequest, reason: str = "") -> Deed:
    """What the journal says of a write: whoever has signed in did it, in the admin."""
    return deed_of(request, "admin", reason)


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


class PoolForm(_Form):
    class Meta:
        model = models.Pool
        fields = ("name", "slots", "description")


@admin.register(models.Pool)
class Pools(Record):
    """Pools, made, changed and taken away as over the API."""

    form = PoolForm
    list_display = ("name", "slots", "description")
    search_fields = ("name",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("core.add_pool")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("core.change_pool")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return request.user.has_perm("core.delete_pool")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("name",) if obj else ()

    def save_model(self, request: HttpRequest, obj: models.Pool, form: Any, change: bool) -> None:
        said, at = deed(request), timezone.now()
        if change:
            found = models.Pool.objects.get(pk=obj.pk)
            pools.change(found, slots=obj.slots, description=obj.description, deed=said, at=at)
        else:
            obj.pk = pools.make(obj.name, obj.slots, description=obj.description, deed=said, at=at).pk

    def delete_model(self, request: HttpRequest, obj: models.Pool) -> None:
        pools.delete(models.Pool.objects.get(pk=obj.pk), deed=deed(request), at=timezone.now())


class ScheduleForm(_Form):
    """How a Dag listens, as JSON; checked as everywhere."""

    revision = forms.IntegerField(widget=forms.HiddenInput)
    reason = forms.CharField(max_length=1000, help_text="Kept in the journal.", required=False)

    class Meta:
        model = models.Dag
        fields = ("schedule",)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.pk and "revision" in self.fields:
            self.fields["revision"].initial = self.instance.revision

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        said, row = self.cleaned_data, models.Dag.objects.get(pk=self.instance.pk)
        if not said.get("reason", "").strip():
            self.add_error("reason", "Say why: the reason is kept in the journal.")
        try:
            check_seen(row, said.get("revision", 0))
            configuration.read_schedule(row, said.get("schedule"))
        except InvalidDefinition as refusal:
            self.add_error("schedule", f"{refusal.path}: {refusal}" if refusal.path else str(refusal))
        except PartitionError as refusal:
            self.add_error(None, str(refusal))
        return cleaned


@admin.register(models.Dag)
class Dags(Record):
    """Dags are as their files say; how they listen is changed through `configuration.change_schedule`."""

    form = ScheduleForm
    list_display = ("dag_id", "is_active", "is_paused", "revision", "updated_at")
    list_filter = ("is_active", "is_paused")
    search_fields = ("dag_id",)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        may = request.user.has_perm(CHANGE_SCHEDULE)
        return may and (obj is None or configuration.is_changeable(obj))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        apart = ("id", "schedule", "revision")
        shown = [each.name for each in models.Dag._meta.fields if each.name not in apart]
        asked = ["revision", "reason"] if self.has_change_permission(request, obj) else []
        return ["listening", "schedule", *asked, *shown]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        asked = ("schedule", "revision", "reason")
        return [each for each in self.get_fields(request, obj) if each not in asked]

    @admin.display(description="How it listens")
    def listening(self, obj: models.Dag) -> SafeString:
        address = f"{reverse('dag_listening')}?{urlencode({'dag': obj.dag_id})}"
        return format_html('<a href="{}">a form with a preview of what a change does</a>', address)

    def save_model(self, request: HttpRequest, obj: models.Dag, form: Any, change: bool) -> None:
        said = form.cleaned_data
        configuration.change_schedule(
            models.Dag.objects.get(pk=obj.pk),
            said["schedule"],
            deed=deed(request, said["reason"].strip()),
            at=timezone.now(),
            revision=said["revision"],
        )


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
admin.site.site_header = admin.site.site_title = "Partita"
admin.site.index_title = "Administration"
