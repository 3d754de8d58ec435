"""What composite mappers ask of their parts, and how parts wait together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from scheduling.algebra.errors import (
    CannotMap,
    InvalidDefinition,
    MismatchedDefinition,
    PartitionError,
    within,
)
from scheduling.algebra.mappers import AllowedKeyMapper, IdentityMapper, Mapper, check_mapper
from scheduling.algebra.policies import WaitForAll, WaitPolicy


def check_parts(mappers: Sequence[object], name: str) -> tuple[Mapper, ...]:
    """The mappers of a composite called `name`.

    :raises InvalidDefinition: for fewer than two, and for anything but mappers.
    """
    if len(mappers) < 2:
        raise MismatchedDefinition(f"a {name} joins two mappers or more, not {len(mappers)}", path="mappers")
    return tuple(
        within(f"mappers[{n}]", check_mapper, mapper, f"part {n + 1} of a {name}")
        for n, mapper in enumerate(mappers)
    )


def members_of(mapper: Mapper, downstream_key: str) -> tuple[str, ...] | None:
    """What one part needs: a rollup its members, any other one key that stands for all that map alike."""
    if mapper.is_rollup:
        return mapper.required(downstream_key)
    found = mapper.representative(downstream_key)
    return None if found is None else (found,)


def counted_as(mapper: Mapper, key: str) -> str:
    """The key of `members_of` as which a key counts; itself if the part cannot read it."""
    if mapper.is_rollup:
        return mapper.counts_as(key)
    try:
        (made,) = mapper.to_downstream(key)
        return mapper.representative(made) or key
    except PartitionError:
        return key


def check_countable(mappers: tuple[Mapper, ...]) -> None:
    """Waiting inside a composite needs parts that tell their upstream keys from the downstream key.

    :raises InvalidDefinition: naming the part that does not.
    """
    if not any(mapper.is_rollup for mapper in mappers):
        return
    for n, mapper in enumerate(mappers):
        if mapper.needs_known or not (mapper.is_rollup or mapper.is_one_to_one):
            raise InvalidDefinition(
                f"{type(mapper).__name__} cannot stand beside a rollup: its upstream keys are not known",
                path=f"mappers[{n}]",
            )
    rollups = [mapper for mapper in mappers if mapper.is_rollup]
    if len(rollups) > 1 and any(mapper.wait_policy != WaitForAll() for mapper in rollups):
        raise InvalidDefinition(
            "several rollups together can only wait for all of their keys", path="mappers"
        )


def check_after_rollup(mappers: tuple[Mapper, ...]) -> None:
    """After a rollup in a chain come only rollups and mappers that keep keys apart.

    :raises InvalidDefinition: naming the part that would merge them.
    """
    waiting = False
    for n, mapper in enumerate(mappers):
        if waiting and not mapper.is_rollup and not isinstance(mapper, IdentityMapper | AllowedKeyMapper):
            raise InvalidDefinition(
                f"{type(mapper).__name__} after a rollup would need just some of its keys, and nothing says "
                "which; use a RollupMapper there as well",
                path=f"mappers[{n}]",
            )
        waiting = waiting or mapper.is_rollup


def check_links(mappers: tuple[Mapper, ...]) -> None:
    """Each part of a chain can read at least some keys of the part before it, as far as those are known.

    :raises InvalidDefinition: naming the part that cannot, and a key.
    """
    for n, (before, after) in enumerate(pairwise(mappers), 1):
        refusal = None
        examples = () if isinstance(after, AllowedKeyMapper) else before.samples()
        for sample in examples:
            try:
                after.to_downstream(sample)
            except CannotMap as error:
                refusal = error
            else:
                refusal = None
                break
        if refusal is not None:
            raise InvalidDefinition(
                f"{type(after).__name__} cannot read what {type(before).__name__} writes: {refusal}",
                path=f"mappers[{n}]",
            )


def joint_policy(mappers: tuple[Mapper, ...]) -> WaitPolicy | None:
    """The policy of the rollups among the parts, which agree; none if there is no rollup."""
    policies = {mapper.wait_policy for mapper in mappers if mapper.is_rollup}
    return policies.pop() if policies else None


def joint_noun(mappers: tuple[Mapper, ...]) -> str:
    """What the required keys are called: as the only kind of member, or plainly keys."""
    nouns = {mapper.member_noun for mapper in mappers if mapper.is_rollup}
    return nouns.pop() if len(nouns) == 1 else "keys"
