"""Why somebody may not do something: which right it takes, and which roles have it."""

from fnmatch import fnmatchcase
from typing import Any

from partitions_site import grants
from partitions_site.roles import GRANTS, VIEWER
from scheduling import belonging
from scheduling.belonging import Thing

RIGHTS = {
    "core.add_assetevent": "record events",
    "core.add_backfill": "start backfills",
    "core.change_backfill": "steer backfills",
    "core.add_dagrun": "trigger runs",
    "core.change_dagrun": "cancel runs, run them again and mark them",
    "core.change_heldrun": "fire and cancel held runs",
    "core.change_dag": "pause Dags",
    "core.add_dynamickey": "add keys",
    "core.change_dynamickey": "remove keys",
    "core.change_sensor": "steer sensors",
    "core.change_scheduleoverride": "change how Dags listen",
    "core.delete_partition": "take data back",
}
"""The rights that the pages ask for, in words."""


def holders(right: str) -> list[str]:
    """The roles that have a right, least first: each has those of the ones before it."""
    names = list(GRANTS)
    first = next((at for at, each in enumerate(GRANTS.values()) if _names(each, right)), len(names) - 1)
    return names[first:]


def may_all_of(user: Any, role: str) -> bool:
    """Whether `user` may do everywhere what `role` adds to those before it, as far as pages ask for it."""
    if role == VIEWER:
        return True
    return all(user.has_perm(right) for right in RIGHTS if holders(right)[0] == role)


def what_it_takes(user: Any, right: str, thing: Thing | None = None) -> str:
    """The right by its words and its name, and the roles that have it: `Pausing takes …`.

    For somebody who has it for other groups of assets than that of `thing`, with the group.
    """
    roles = holders(right)
    several = f"the roles {', '.join(roles[:-1])} and {roles[-1]} have"
    who = several if len(roles) > 1 else f"the role {roles[0]} has"
    where = _where(thing) if thing and grants.reach_of(user).may_somewhere(right) else ""
    return f"the right to {RIGHTS[right]}{where} ({right}), which {who}"


def why_not(user: Any, right: str, thing: Thing | None = None) -> str:
    """A sentence for somebody who has no such right, or not for `thing`."""
    name = user.get_username()
    return f"{name} may look but not do this: it takes {what_it_takes(user, right, thing)}"


def _names(granted: tuple[str, ...], right: str) -> bool:
    return any(fnmatchcase(right, each) for each in granted)


def _where(thing: Thing) -> str:
    groups = sorted(belonging.groups_of(thing))
    if len(groups) > 1:
        return f" in the groups {', '.join(groups[:-1])} and {groups[-1]}"
    return f" in the group {groups[0]}" if groups else " on the whole site"
