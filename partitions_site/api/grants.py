"""Roles for one group of assets each: `/api/v2/grants`, in the manner of Airflow's lists."""

from typing import Any, cast

from django.contrib.auth.models import Group, User
from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from partitions_site import granting
from partitions_site.api.auth import OWN, Address, deed
from partitions_site.api.errors import Invalid, problem
from partitions_site.api.fields import OneOf, Text
from partitions_site.api.filters import AnyOf, Exactly
from partitions_site.api.forms import Form, read_body, row_id
from partitions_site.api.pages import Listing
from partitions_site.api.schema import gives
from partitions_site.models import Grant

ROLES = Grant.Role.values


class GrantIn(Form):
    """To a login or to a team, which is a Django group: one of the two."""

    user = Text(required=False, allow_null=True, default=None, help_text="The name of a login")
    team = Text(required=False, allow_null=True, default=None, help_text="The name of a Django group")
    role = OneOf(choices=ROLES)
    asset_group = Text(help_text="The group of assets, as their definitions name it")


class GrantOut(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    user = serializers.CharField(source="user.username", default=None, allow_null=True)
    team = serializers.CharField(source="team.name", default=None, allow_null=True)
    role = serializers.CharField()
    asset_group = serializers.CharField()


GRANTS = Listing(
    noun="grants",
    out=GrantOut,
    orders={"id": "id", "asset_group": "asset_group", "role": "role"},
    filters=[
        Exactly("user", "user__username", words="Granted to this login itself"),
        Exactly("team", "team__name", words="Granted to this team"),
        AnyOf("asset_group", "asset_group"),
        AnyOf("role", "role", {name: (name,) for name in ROLES}),
    ],
)


class Grants(Address):
    """`/api/v2/grants`."""

    within = OWN
    needs = {"POST": granting.GIVE}

    @GRANTS.described("get_grants", "Grants: everybody's for admins, for others their own and their teams'")
    def get(self, request: Request) -> Response:
        return GRANTS.answer(request, _shown(request))

    @extend_schema(
        operation_id="create_grant",
        summary="Grant a role for one group of assets",
        description="200 and nothing changes if it is granted already.",
        request=GrantIn,
        responses=gives(GrantOut, 201, refusals=(400, 413, 415, 422)) | {200: GrantOut},
    )
    def post(self, request: Request) -> Response:
        asked = read_body(GrantIn, request)
        grant, is_new = granting.give(
            _holder(asked), asked["role"], asked["asset_group"], deed=deed(request), at=timezone.now()
        )
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Response(GrantOut(grant).data, status=code)


class OneGrant(Address):
    """`/api/v2/grants/{grant_id}`."""

    within = OWN
    needs = {"DELETE": granting.TAKE}

    @extend_schema(
        operation_id="get_grant", summary="One grant", responses=gives(GrantOut, refusals=(404, 422))
    )
    def get(self, request: Request, grant_id: str) -> Response:
        return Response(GrantOut(_find(request, grant_id)).data)

    @extend_schema(
        operation_id="delete_grant",
        summary="Take a grant back",
        responses=gives(None, 204, refusals=(404, 422)),
    )
    def delete(self, request: Request, grant_id: str) -> Response:
        granting.take(_find(request, grant_id), deed=deed(request), at=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


def _shown(request: Request) -> "QuerySet[Grant]":
    user = cast(User, request.user)
    return granting.everybodys() if user.has_perm(granting.SEE_ALL) else granting.of(user)


def _find(request: Request, grant_id: str) -> Grant:
    row = _shown(request).filter(pk=row_id("grant_id", grant_id)).first()
    if row is None:
        raise NotFound(f"The grant with ID: `{grant_id}` was not found")
    return row


def _holder(asked: dict[str, Any]) -> User | Group:
    """:raises Invalid: unless just one login or team is named, and there is one called so."""
    if (asked["user"] is None) == (asked["team"] is None):
        raise Invalid([problem("one_of", ["body"], "Name a `user` or a `team`, and not both", asked)])
    field = "team" if asked["user"] is None else "user"
    named = asked[field]
    found = (
        Group.objects.filter(name=named).first()
        if field == "team"
        else User.objects.filter(username=named).first()
    )
    if found is None:
        raise Invalid([problem("not_found", ["body", field], f"No {field} is called `{named}`", named)])
    return found
