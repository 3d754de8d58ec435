"""Grants in Django's admin: roles for one group of assets, given and taken; the journal says by whom."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from partitions_site import granting
from partitions_site.deeds import deed_of
from partitions_site.models import Grant

if TYPE_CHECKING:
    _Admin = admin.ModelAdmin[Grant]
    _Form = forms.ModelForm[Grant]
else:  # Django's own classes know no parameters
    _Admin = admin.ModelAdmin
    _Form = forms.ModelForm


class GrantForm(_Form):
    """To a user or to a group of users, for a group of assets that there is."""

    asset_group = forms.ChoiceField(help_text="The group of assets, as their definitions name it.")

    class Meta:
        model = Grant
        fields = ("user", "team", "asset_group", "role")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        groups = sorted({*granting.groups(), self.instance.asset_group} - {""})
        self.fields["asset_group"].choices = [(each, each) for each in groups]  # type: ignore[attr-defined]


@admin.register(Grant)
class Grants(_Admin):
    form = GrantForm
    list_display = ("asset_group", "role", "user", "team")
    list_filter = ("asset_group", "role")
    list_select_related = ("user", "team")

    def save_model(self, request: HttpRequest, obj: Grant, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        _note("grant changed" if change else "grant given", request, obj)

    def delete_model(self, request: HttpRequest, obj: Grant) -> None:
        _note("grant taken", request, obj)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Grant]) -> None:
        for grant in queryset:
            self.delete_model(request, grant)


def _note(event: str, request: HttpRequest, grant: Grant) -> None:
    granting.note(event, grant, deed=deed_of(request, "admin"), at=timezone.now())
