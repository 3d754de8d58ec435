"""`partita pools`: slots that the runs of many Dags share."""

from argparse import ArgumentParser, Namespace

from core.models import Pool
from partitions_site.cli.parsing import NotFound, Spoken, add_deeds, deed, now
from partitions_site.cli.replies import Reply, done, none_of
from scheduling import pool_slots
from scheduling.algebra.phrases import some
from scheduling.configuration import pools


def add_arguments(parser: ArgumentParser) -> None:
    parser.set_defaults(do=_list)
    made = add_deeds(
        parser,
        Spoken("list", "what each has, and how much of it is taken", _list),
        Spoken("set", "make a pool, or change the slots of one", _set, is_deed=True),
        Spoken("delete", "take one away that no Dag names", _delete, is_deed=True),
    )
    for name in ("set", "delete"):
        made[name].add_argument("name", metavar="NAME")
    made["set"].add_argument("slots", type=int, metavar="SLOTS", help="0 closes it")
    made["set"].add_argument("--description", metavar="TEXT")


def _list(given: Namespace) -> Reply:
    found = list(Pool.objects.order_by("name"))
    use = pool_slots.use_of(found)
    rows = [
        {
            "name": pool.name,
            "slots": pool.slots,
            "taken": use[pool.pk].taken,
            "waiting": use[pool.pk].waiting,
            "description": pool.description,
        }
        for pool in found
    ]
    return Reply(rows, [_words(pool, use[pool.pk]) for pool in found] or [none_of("pools")])


def _words(pool: Pool, use: pool_slots.Use) -> str:
    wait = "1 run waits" if use.waiting == 1 else f"{use.waiting} runs wait"
    return f"{pool.name}: {use.taken} of {some(pool.slots, 'slot')} taken, {wait}"


def _set(given: Namespace) -> Reply:
    pool, said, at = Pool.objects.filter(name=given.name).first(), deed(given), now()
    if pool:
        pools.change(pool, slots=given.slots, description=given.description, deed=said, at=at)
    else:
        pools.make(given.name, given.slots, description=given.description or "", deed=said, at=at)
    return done(f"{given.name}: {some(given.slots, 'slot')}", {"name": given.name, "slots": given.slots})


def _delete(given: Namespace) -> Reply:
    pool = Pool.objects.filter(name=given.name).first()
    if pool is None:
        raise NotFound(f"there is no pool {given.name!r}")
    pools.delete(pool, deed=deed(given), at=now())
    return done(f"{given.name} is deleted")
