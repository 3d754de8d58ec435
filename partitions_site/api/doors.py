"""Addresses that only lead elsewhere: to the page that signs people in or out; and one that stays shut."""

from django.conf import settings
from django.http import HttpResponseRedirect
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from partitions_site.api.auth import OWN, Address, OpenAddress
from partitions_site.api.bearers import COOKIE
from partitions_site.api.schema import gives
from partitions_site.models import ApiToken


class Found(HttpResponseRedirect):
    """Go there with the same method."""

    status_code = 307


class Login(OpenAddress):
    """`/api/v2/auth/login`."""

    @extend_schema(
        operation_id="login",
        summary="To the page that signs in",
        parameters=[OpenApiParameter("next", str, description="Where to go from there")],
        responses=gives(None, 307, always=(429,)),
    )
    def get(self, request: Request) -> HttpResponseRedirect:
        after = request.query_params.get("next", "")
        host = request.get_host()
        kept = url_has_allowed_host_and_scheme(after, allowed_hosts={host}, require_https=request.is_secure())
        query = f"?{urlencode({'next': after})}" if after and kept else ""
        return Found(resolve_url(settings.LOGIN_URL) + query)


class Logout(Address):
    """`/api/v2/auth/logout`: a token that comes along is worth nothing afterwards."""

    within = OWN

    @extend_schema(
        operation_id="logout",
        summary="Revoke the token of the request, and to the page that signs in",
        responses=gives(None, 307),
    )
    def get(self, request: Request) -> HttpResponseRedirect:
        if isinstance(request.auth, ApiToken) and request.auth.kind == ApiToken.Kind.SIGN_IN:
            request.auth.delete()
        answer = Found(resolve_url(settings.LOGIN_URL))
        answer.delete_cookie(COOKIE)
        return answer


class Config(Address):
    """`/api/v2/config`: what an installation is set to is nobody else's business."""

    within = OWN

    @extend_schema(operation_id="get_config", summary="Refused", responses=gives(None, 204))
    def get(self, request: Request) -> Response:
        raise PermissionDenied("The configuration of this site is not shown here")
