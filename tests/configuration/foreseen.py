"""A Dag that listens to two assets, what happens to it, and whether an edit does what was said of it."""

from contextlib import suppress
from datetime import timedelta

from core.models import Asset, AssetEvent, ConsumedEvent, Dag, HeldRun, MappingProblem, Partition, ReceivedKey
from scheduling import configuration, holds, wiping
from scheduling.configuration.foreseeing import foresee
from scheduling.configuration.overriding import links_for
from scheduling.listening import by_timetable
from tests.configuration.changing import BOB
from tests.configuration.stories import (
    ASSETS,
)
from tests.engine import world
from tests.engine.world import ALICE, NOW


class World:
    """One Dag that listens to two assets, and what happens to it before it is edited."""

    def __init__(self, schedule):
        for name in ASSETS:
            world.asset(name)
        self.dag = world.dag("c", spec_of(**schedule))
        links = links_for(configuration.read_schedule(self.dag, self.dag.schedule), NOW)
        for link in links.wanted.values():
            link.dag = self.dag
            link.save()
        self.at = NOW

    def play(self, deed):
        name, *what = deed
        self.at += timedelta(seconds=7)
        getattr(self, name)(*what)

    def emit(self, name, keys):
        world.emit(name, *sorted(keys, key=str), at=self.at)

    def wipe(self, name, key):
        with suppress(wiping.NeverSeen):
            wiping.wipe(Asset.objects.get(name=name), [key], deed=ALICE, at=self.at)

    def vanish(self, name, key):
        """It is wiped at the very moment at which it is counted: the held run does not know of it."""
        Partition.objects.filter(asset__name=name, key=key).update(data_at=None, last_event=None)

    def turn(self):
        world.turn(self.at)

    def route(self):
        while holds.route_pending(now=self.at, at_once=0):
            pass

    def wait(self):
        self.at += timedelta(minutes=40)

    def pause(self):
        configuration.set_paused(self.dag, not self.dag.is_paused, deed=ALICE, at=self.at)

    def edit(self, schedule):
        self.dag.refresh_from_db()
        spec = spec_of(**schedule)
        configuration.change_schedule(self.dag, spec, deed=BOB, at=self.at, revision=self.dag.revision)

    def cancel(self):
        if row := HeldRun.objects.held().order_by("pk").first():
            holds.cancel(row, deed=ALICE, at=self.at)

    def forget(self):
        """Old events are pruned: a partition does not name its newest any more."""
        Asset.objects.get(name="a").partition_set.update(last_event=None)

    def save(self, spec):
        """Save `spec` and let the engine judge; what that did."""
        self.dag.refresh_from_db()
        before = {row.pk: row for row in HeldRun.objects.held()}
        closed = set(HeldRun.objects.exclude(state="held").values_list("pk", flat=True))
        counted = list(
            ConsumedEvent.objects.filter(held_run__in=before).values_list("held_run_id", "event_id")
        )
        refused = set(MappingProblem.objects.values_list("event_id", flat=True))
        configuration.change_schedule(self.dag, spec, deed=BOB, at=self.at, revision=self.dag.revision)
        while holds.judge_due(now=self.at):
            pass
        return Saved(before, closed, counted, refused)


class Saved:
    """What saving did, told from the rows."""

    def __init__(self, before, closed, counted, refused):
        after = HeldRun.objects.in_bulk()
        self.before, self.counted = before, counted
        self.refused = refused
        self.fires = {
            row.partition_key for pk, row in after.items() if row.state == "fired" and pk not in closed
        }
        self.closes = {after[pk].partition_key for pk in before if after[pk].state == "superseded"}
        self.ends = self._ended(row for pk, row in after.items() if pk not in closed)
        touched = [row for pk, row in after.items() if row.state == "held" or pk not in closed]
        self.rows = {
            row.partition_key: row
            for row in touched
            if row.state == "held" or row.partition_key in self.fires | self.ends
        }
        self.opens = {row.partition_key for row in self.rows.values() if row.pk not in before}

    def _ended(self, rows):
        return {row.partition_key for row in rows if row.closed_by == "deadline"}

    def received(self):
        found = ReceivedKey.objects.filter(held_run__in=self.rows.values())
        names = ("held_run__partition_key", "asset_id", "key", "is_fresh")
        return set(found.values_list(*names))

    def places(self, pk):
        """For which keys the events that a held run had counted count now."""
        events = [event_id for held_run, event_id in self.counted if held_run == pk]
        found = ConsumedEvent.objects.filter(event__in=events, held_run__in=self.rows.values())
        return tuple(sorted(set(found.values_list("held_run__partition_key", flat=True))))

    def lost(self):
        """Upstream keys that a held run had counted, and of which some event counts nowhere now."""
        events = {event_id for _, event_id in self.counted}
        counted = ConsumedEvent.objects.filter(event__in=events, held_run__in=self.rows.values())
        gone = AssetEvent.objects.filter(pk__in=events - set(counted.values_list("event_id", flat=True)))
        return {(name, key or "") for name, key in gone.values_list("asset__name", "partition_key")}

    def regained(self):
        """Keys that could not be mapped before, and can be now."""
        still = MappingProblem.objects.values_list("event_id", flat=True)
        mapped = AssetEvent.objects.filter(pk__in=self.refused - set(still), partition_key__isnull=False)
        return set(mapped.values_list("partition_key", flat=True))


def check(play, spec):
    """Look ahead, save, and compare."""
    play.dag.refresh_from_db()
    said = configuration.preview(play.dag, spec, now=play.at, most=1000)
    seen = _foreseen(play, spec)
    if not said.is_change:
        return said, None
    saved = play.save(spec)
    effect = said.effect
    assert effect.held == len(saved.before)
    assert set(effect.fires.first) == saved.fires
    assert set(effect.closes.first) == saved.closes
    assert set(effect.ends.first) == saved.ends
    assert set(effect.opens.first) == saved.opens
    assert set(seen.after) == set(saved.rows)
    assert _received(seen) == saved.received()
    for key, row in saved.rows.items():
        verdict = seen.verdicts[seen.after[key].pk]
        assert (verdict.kind, verdict.sentence) == (row.verdict, row.sentence), key
    moves = {move.key: move.to for move in effect.moves.first}
    really = {row.partition_key: saved.places(pk) for pk, row in saved.before.items()}
    assert moves == {key: to for key, to in really.items() if to and to != (key,)}
    problems = MappingProblem.objects.filter(event__partition_key__isnull=False)
    lost = {(each.asset, each.key) for each in effect.lost.first}
    assert lost == saved.lost()
    assert set(effect.regained.first) == saved.regained()
    assert {each.event.pk for each in seen.mapped.problems} == set(
        problems.filter(event__asset__in=seen.listens_to).values_list("event_id", flat=True)
    )
    return said, saved


def spec_of(mappers, assets, **fields):
    leaves = [{"asset": name} for name in ASSETS]
    condition = leaves[0] if assets == "one" else {assets: leaves}
    pairs = [
        {"asset": leaf, "mapper": mapper} for leaf, mapper in zip(leaves, mappers, strict=True)
    ]  # fmt: skip
    return {"type": "PartitionedAssetTimetable", "assets": condition, "mapper_config": pairs, **fields}


def _foreseen(play, spec):
    timetable = configuration.read_schedule(play.dag, spec)
    heard = by_timetable(timetable, links_for(timetable, play.at).wanted.values())
    return foresee(Dag.objects.get(pk=play.dag.pk), heard, now=play.at)


def _received(seen):
    return {
        (key, asset_id, name, is_fresh)
        for key, row in seen.after.items()
        for (asset_id, name), is_fresh in seen.received[row.pk].items()
    }
