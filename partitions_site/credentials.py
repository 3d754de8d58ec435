"""Who a token stands for, and what users may do: asked with every request, and so in one query each."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission, User
from django.db.models import CharField, Value
from django.db.models.functions import Concat

from core.compiled import Compiled, built, columns
from partitions_site import grants
from partitions_site.models import ApiToken, Grant


def tokens_of(token_key: str) -> list[ApiToken]:
    """The tokens that begin with `token_key`, one as a rule, each with its user. They may be over."""
    found = []
    for row in _TOKENS(token_key):
        token = built(ApiToken, row[:_WIDTH])
        token.user = built(User, row[_WIDTH:])
        found.append(token)
    return found


class Backend(ModelBackend):
    """Django's own, but for the permissions of a user and of their groups, which it asks for one by one.

    Of a thing of some asset's group (`has_perm(right, dag)`) it also asks what has been granted for that.
    """

    def has_perm(self, user_obj: Any, perm: str, obj: Any = None) -> bool:
        if super().has_perm(user_obj, perm):
            return True
        return obj is not None and user_obj.is_active and grants.may(user_obj, perm, obj)

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        if obj is not None or not user_obj.is_active or user_obj.is_anonymous or user_obj.is_superuser:
            return super().get_all_permissions(user_obj, obj)
        if not hasattr(user_obj, "_perm_cache"):
            rows = _PERMISSIONS(user_obj.pk)
            granted = [(app.removeprefix(_GRANTED), name) for app, name in rows if app.startswith(_GRANTED)]
            user_obj._granted = granted
            user_obj._perm_cache = {f"{app}.{name}" for app, name in rows if not app.startswith(_GRANTED)}
        kept: set[str] = user_obj._perm_cache
        return kept


_WIDTH = len(columns(ApiToken))
_TOKENS = Compiled(
    lambda key: ApiToken.objects.filter(token_key=key).values_list(
        *columns(ApiToken), *columns(User, "user__")
    ),
    "the first letters of a token",
)


def _permissions(user_id: int) -> Any:
    """What a user may, and which roles they have for groups of assets: asked together, since always asked."""
    names = Permission.objects.order_by().values_list("content_type__app_label", "codename")
    granted = Grant.objects.order_by().annotate(
        kind=Concat(Value(_GRANTED), "role", output_field=CharField())
    )
    roles = granted.values_list("kind", "asset_group")
    return names.filter(user=user_id).union(
        names.filter(group__user=user_id), roles.filter(user=user_id), roles.filter(team__user=user_id)
    )


_GRANTED = "granted "
"""Begins the first column of a row that is about a role, not a right."""


_PERMISSIONS = Compiled(_permissions, -1)
