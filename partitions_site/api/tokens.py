"""Signing in for programs: web tokens for Airflow's clients, personal tokens for everything else."""

from datetime import timedelta
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.exceptions import NotFound
from rest_framework.parsers import BaseParser, FormParser
from rest_framework.request import Request
from rest_framework.response import Response

from partitions_site import tokens, tries
from partitions_site.api.auth import OWN, SIGNED_IN, UNKEPT, Address, OpenAddress, deed, may
from partitions_site.api.bearers import web_token
from partitions_site.api.errors import BadRequest, TooMany, Unprocessable, WrongCredentials
from partitions_site.api.fields import Flag, Instant, OneOf, Text, Whole
from partitions_site.api.forms import Form, read_body, read_value
from partitions_site.api.parsing import JsonBody
from partitions_site.api.schema import gives
from partitions_site.models import ApiToken
from partitions_site.tries import TooManyTries, Try


class SignIn(serializers.Serializer[Any]):
    username = serializers.CharField()
    password = serializers.CharField(trim_whitespace=False)


class WebTokenOut(serializers.Serializer[Any]):
    access_token = serializers.CharField()


class PersonalTokenIn(Form):
    name = Text(max_length=tokens.LONGEST_NAME, help_text="What the token is for")
    days = Whole(
        min_value=1,
        max_value=tokens.MOST_DAYS,
        required=False,
        help_text="Days it lives; without, until revoked",
    )
    scope = OneOf(
        choices=ApiToken.Scope.values,
        required=False,
        default=ApiToken.Scope.ALL.value,
        help_text="To `read`, to `write` what operators do, or for `all` that its owner may",
    )


class PersonalTokenOut(serializers.Serializer[Any]):
    id = serializers.CharField(source="token_key", help_text="The first letters of the token")
    owner = serializers.CharField(source="user.username")
    name = serializers.CharField()
    scope = serializers.CharField()
    created_at = Instant(source="created")
    expires_at = Instant(source="expiry", allow_null=True)
    last_used_at = Instant(allow_null=True)


class NewPersonalTokenOut(PersonalTokenOut):
    token = serializers.CharField(help_text="The token itself: shown this once")


class WebToken(OpenAddress):
    """`/auth/token`: a web token for a name and a password, as JSON or as a form."""

    parser_classes: tuple[type[BaseParser], ...] = (JsonBody, FormParser)
    life = timedelta(seconds=settings.WEB_TOKEN_SECONDS)

    @extend_schema(
        operation_id="token_unavailable",
        summary="Refused: every token needs a password",
        responses=gives(None, refusals=(403,)),
    )
    def get(self, request: Request) -> Response:
        raise exceptions.PermissionDenied("A token is given for a name and a password: POST them here")

    @extend_schema(
        operation_id="create_token",
        summary="Sign in",
        request=SignIn,
        responses=gives(WebTokenOut, 201, refusals=(400, 401, 413, 415, 422, 429)),
    )
    def post(self, request: Request) -> Response:
        token = web_token(_signed_in(request), life=self.life, at=timezone.now())
        return Response({"access_token": token}, status=status.HTTP_201_CREATED, headers=UNKEPT)


class CliToken(WebToken):
    """`/auth/token/cli`: the same from JSON only, for a shorter life."""

    parser_classes = (JsonBody,)
    life = timedelta(seconds=settings.CLI_TOKEN_SECONDS)
    http_method_names = ["post", "options"]

    @extend_schema(
        operation_id="create_cli_token",
        summary="Sign in for a short while",
        request=SignIn,
        responses=gives(WebTokenOut, 201, refusals=(400, 401, 413, 415, 422, 429)),
    )
    def post(self, request: Request) -> Response:
        return super().post(request)


class PersonalTokens(Address):
    """`/auth/tokens`: the personal tokens of whoever asks, or for admins everybody's."""

    within = OWN
    needs = {"POST": SIGNED_IN}

    @extend_schema(
        operation_id="get_personal_tokens",
        summary="My tokens",
        parameters=[OpenApiParameter("all", bool, default=False, description="Everybody's: for admins")],
        responses=gives(PersonalTokenOut(many=True), refusals=(422,)),
    )
    def get(self, request: Request) -> Response:
        everybodys = read_value(Flag(), request.query_params.get("all", "false"), ["query", "all"])
        if everybodys and not may(request, tokens.SEE_ALL):
            raise exceptions.PermissionDenied
        rows = tokens.everybodys() if everybodys else tokens.of(cast(User, request.user))
        return Response(PersonalTokenOut(rows, many=True).data)

    @extend_schema(
        operation_id="create_personal_token",
        summary="Make a token",
        request=PersonalTokenIn,
        responses=gives(NewPersonalTokenOut, 201, refusals=(413, 415, 422)),
    )
    def post(self, request: Request) -> Response:
        asked, at = read_body(PersonalTokenIn, request), timezone.now()
        life = timedelta(days=asked["days"]) if "days" in asked else None
        owner = cast(User, request.user)
        row, token = tokens.make(
            owner, asked["name"], scope=asked["scope"], life=life, deed=deed(request), at=at
        )
        shown = PersonalTokenOut(row).data | {"token": token}
        return Response(shown, status=status.HTTP_201_CREATED, headers=UNKEPT)


class PersonalToken(Address):
    """`/auth/tokens/{token_id}`: one of them, to be revoked."""

    within = OWN
    needs = {"DELETE": SIGNED_IN}

    @extend_schema(
        operation_id="revoke_personal_token",
        summary="Revoke a token",
        responses=gives(None, 204, refusals=(404,)),
    )
    def delete(self, request: Request, token_id: str) -> Response:
        row = tokens.revocable_by(cast(User, request.user)).filter(token_key=token_id).first()
        if row is None:
            raise NotFound(f"You have no token that begins with {token_id!r}")
        tokens.revoke(row, deed=deed(request), at=timezone.now())
        return Response(status=status.HTTP_204_NO_CONTENT)


def _signed_in(request: Request) -> User:
    """The user that the name and password of `request` belong to.

    :raises Unprocessable: if one of the two is not there.
    :raises TooMany: if it was tried too often.
    """
    given: Any = request.data if hasattr(request.data, "get") else {}
    absent = [name for name in ("username", "password") if not isinstance(given.get(name), str)]
    if absent:
        raise Unprocessable(f"Field required: {' and '.join(absent)}")
    if not given["username"] or not given["password"]:
        raise BadRequest("Username and password must not be empty")
    attempt = Try(given["username"], tries.address_of(request._request))
    try:
        tries.count(attempt, at=timezone.now())
    except TooManyTries as refusal:
        raise TooMany(str(refusal), wait=refusal.seconds) from None
    user = authenticate(request._request, username=given["username"], password=given["password"])
    if not isinstance(user, User):
        raise WrongCredentials("Invalid credentials")
    tries.forgive(attempt)
    return user
