"""Roles that somebody has for certain groups of assets only.

1. A role of the site (one of the four groups of `roles`) goes on as if there were no grants.
2. A grant adds what its role may do, for what belongs to its group of assets. Of a thing that belongs to
   several groups the right is needed in each.
3. Whoever has grants and may not look at the whole site, by a role or by a right of their own, sees what
   belongs to the groups of their grants, and nothing else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import Permission
from django.core.exceptions import PermissionDenied

from core.models import Asset, Dag
from scheduling import belonging, configuration
from scheduling.belonging import EVERYTHING, Sight, Thing

SEES_ALL = "core.view_asset"
"""Whoever has this right by a role of the site, or by themselves, sees the whole site."""


@dataclass(frozen=True, slots=True)
class Reach:
    """What somebody sees, and what they may do in which group of assets (`rights`)."""

    sight: Sight = EVERYTHING
    rights: Mapping[str, frozenset[str]] | None = None

    def may_somewhere(self, right: str) -> bool:
        return any(right in each for each in (self.rights or {}).values())

    def may_in(self, right: str, groups: Iterable[str]) -> bool:
        """Whether it is granted in each of `groups`, of which there must be one."""
        granted = [right in (self.rights or {}).get(group, ()) for group in groups]
        return bool(granted) and all(granted)


WITHOUT_GRANTS = Reach()


def reach_of(user: Any) -> Reach:
    """What `user`, who has signed in, reaches. Asked once for each request, with their rights."""
    if user.is_superuser:
        return WITHOUT_GRANTS
    if not hasattr(user, "_reach"):
        sees_all, granted = user.has_perm(SEES_ALL), getattr(user, "_granted", ())
        user._reach = _reach(granted, sees_all) if granted else WITHOUT_GRANTS
    kept: Reach = user._reach
    return kept


def may_somewhere(user: Any, right: str) -> bool:
    """Whether `user` may do this everywhere, or in some group of assets."""
    return user.has_perm(right) or reach_of(user).may_somewhere(right)


def may(user: Any, right: str, thing: Thing) -> bool:
    """Whether a grant lets `user` do this with `thing`. What a role of the site lets them do is not asked."""
    reach = reach_of(user)
    return reach.may_somewhere(right) and reach.may_in(right, belonging.groups_of(thing))


def may_with_partitions(user: Any, right: str, name: str) -> bool:
    """Whether `user` may do this with the dynamic partitions called `name`."""
    return user.has_perm(right) or reach_of(user).may_in(right, belonging.groups_of_partitions(name))


def check_schedule(user: Any, dag: Dag, spec: object) -> None:
    """Nobody learns keys of an asset that they do not see by letting a Dag of theirs listen to it.

    :raises PermissionDenied: for a schedule that names such an asset, or one whose group nobody knows yet.
    :raises InvalidDefinition: for one that cannot be read.
    """
    for asset in unseen(user, dag, spec):
        if asset is None:
            raise PermissionDenied(f"{dag} would listen to an asset that is not defined yet")
        raise PermissionDenied(f"{dag} would listen to an asset of a group that you have no role for")


def unseen(user: Any, dag: Dag, spec: object) -> list[Asset | None]:
    """What `dag` would listen to by `spec` and does not now, of what `user` is not shown; None: not defined.

    :raises InvalidDefinition: for one that cannot be read.
    """
    sight = reach_of(user).sight
    if sight.is_whole or spec is None:
        return []
    heard = set(dag.dependencies.values_list("asset", flat=True))
    beside = configuration.assets_of(dag, spec)
    return [each for each in beside if each is None or (each.pk not in heard and not sight.sees(each))]


def _reach(granted: Iterable[tuple[str, str]], sees_all: bool) -> Reach:
    """:param granted: roles, and the groups of assets that they are for."""
    names = {role for role, _ in granted}
    rights: dict[str, set[str]] = {name: set() for name in names}
    rows = Permission.objects.filter(group__name__in=names, content_type__app_label="core").order_by()
    for name, codename in rows.values_list("group__name", "codename"):
        if name in rights:
            rights[name].add(f"core.{codename}")
    by_group: dict[str, set[str]] = {}
    for role, group in granted:
        by_group.setdefault(group, set()).update(rights[role])
    sight = EVERYTHING if sees_all else Sight(frozenset(by_group))
    return Reach(sight, {group: frozenset(found) for group, found in by_group.items()})
