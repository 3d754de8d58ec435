"""Who a token stands for, and what users may do: asked with every request, and so in one query each."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission, User
from django.db.models import CharField, OuterRef, Value
from django.db.models.functions import Concat

from core.compiled import Compiled, built, columns
from core.listed import Listed
from partitions_site import grants
from partitions_site.models import ApiToken, Grant
from partitions_site.together import once_for_all


def tokens_of(token_key: str) -> list[ApiToken]:
    """The tokens that begin with `token_key`, one as a rule, each with its user and what that user may.

    They may be over.
    """
    found = []
    for row in _TOKENS_AT_ONCE(token_key):
        token = built(ApiToken, row[:_WIDTH])
        token.user = built(User, row[_WIDTH:-_LISTS])
        if not token.user.is_superuser:
            _remember(token.user, row[-_LISTS:])
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
            _remember(user_obj, next(iter(_RIGHTS(user_obj.pk)), ((),) * _LISTS))
        kept: set[str] = user_obj._perm_cache
        return kept


def _remember(user: Any, rights: Sequence[Iterable[str]]) -> None:
    """Keep what `_rights` found as long as the instance lives, which is one request."""
    own, of_groups, granted, granted_to_teams = rights
    user._perm_cache = {*own, *of_groups}
    user._granted = [tuple(each.split(" ", 1)) for each in {*granted, *granted_to_teams}]


def _rights(user_id: Any) -> list[Listed]:
    """What a user may: by themselves, by their groups, and by a role for a group of assets, in both ways."""
    names = Permission.objects.order_by().values(
        listed=Concat("content_type__app_label", Value("."), "codename", output_field=CharField())
    )
    granted = Grant.objects.order_by().values(
        listed=Concat("role", Value(" "), "asset_group", output_field=CharField())
    )
    return [
        Listed(each)
        for each in (
            names.filter(user=user_id),
            names.filter(group__user=user_id),
            granted.filter(user=user_id),
            granted.filter(team__user=user_id),
        )
    ]


_LISTS = 4
_WIDTH = len(columns(ApiToken))
_TOKENS = Compiled(
    lambda key: ApiToken.objects.filter(token_key=key).values_list(
        *columns(ApiToken), *columns(User, "user__"), *_rights(OuterRef("user_id"))
    ),
    "the first letters of a token",
)
_TOKENS_AT_ONCE = once_for_all(_TOKENS)
_RIGHTS = Compiled(lambda pk: User.objects.filter(pk=pk).values_list(*_rights(OuterRef("pk"))), -1)
