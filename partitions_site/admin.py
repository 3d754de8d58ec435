"""Django's admin: users and groups are edited here, pools and schedules through `scheduling.configuration`.

All else is only looked at (`records_admin`). Nothing here calls `save` or `delete` of a record.
"""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from core import models
from partitions_site import grants_admin  # noqa: F401  (registers grants)
from partitions_site.deeds import deed_of
from partitions_site.records_admin import Record
from scheduling import configuration
from scheduling.algebra.errors import InvalidDefinition, PartitionError
from scheduling.configuration import pools
from scheduling.configuration.overriding import check_seen
from scheduling.journal import Deed

if TYPE_CHECKING:
    _Form = forms.ModelForm[Any]
else:  # Django's own class knows no parameter
    _Form = forms.ModelForm

CHANGE_SCHEDULE = "core.change_scheduleoverride"


def deed(request: HttpRequest, reason: str = "") -> Deed:
    """What the journal says of a write: whoever has signed in did it, in the admin."""
    return deed_of(request, "admin", reason)


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


admin.site.site_header = admin.site.site_title = "Partita"
admin.site.index_title = "Administration"
