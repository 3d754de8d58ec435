"""Who a token stands for, and what users may do: asked with every request, and so in one query each."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission, User

from core.compiled import Compiled, built, columns
from partitions_site.models import ApiToken


def tokens_of(token_key: str) -> list[ApiToken]:
    """The tokens that begin with `token_key`, one as a rule, each with its user. They may be over."""
    found = []
    for row in _TOKENS(token_key):
        token = built(ApiToken, row[:_WIDTH])
        token.user = built(User, row[_WIDTH:])
        found.append(token)
    return found


class Backend(ModelBackend):
    """Django's own, but for the permissions of a user and of their groups, which it asks for one by one."""

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        if obj is not None or not user_obj.is_active or user_obj.is_anonymous or user_obj.is_superuser:
            return super().get_all_permissions(user_obj, obj)
        if not hasattr(user_obj, "_perm_cache"):
            user_obj._perm_cache = {f"{app}.{codename}" for app, codename in _PERMISSIONS(user_obj.pk)}
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
    names = Permission.objects.order_by().values_list("content_type__app_label", "codename")
    return names.filter(user=user_id).union(names.filter(group__user=user_id))


_PERMISSIONS = Compiled(_permissions, -1)
