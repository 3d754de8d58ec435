"""Stories for the preview: how a Dag listens, what happens to it, and how it is to listen then.

Left to chance hardly any story has a late round that is open when the Dag is edited or is opened by that,
and an edit of everything at once leaves nothing of it. So most stories let a first round fire and go on from
there: some change little, and some listen otherwise for a while and come back to keys that have fired.
"""

from hypothesis import strategies as st

from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, IDENTITY

ASSETS = ("a", "b")
SEGMENTS = ("tw", "jp", "us")
DAY = world.hours("2026-03-10", *range(24))
KEYS = (
    *world.hours("2026-03-10", 0, 1, 2, 9),
    *world.hours("2026-03-11", 0, 1),
    *("tw", "jp", "2026-03-10"),
)
FIXED = {"type": "FixedKeyMapper", "downstream_key": "all"}
SPREAD = {
    "type": "FanOutMapper",
    "upstream_mapper": {"type": "StartOfDayMapper", "input_format": "%Y-%m-%d"},
    "window": {"type": "DayWindow"},
    "downstream_mapper": {"type": "StartOfHourMapper", "output_format": "%Y-%m-%dT%H:%M:%S"},
}


def rollup(*segments, **wait):
    window = {"type": "SegmentWindow", "segments": list(segments)}
    return {"type": "RollupMapper", "upstream_mapper": FIXED, "window": window, **wait}


def hours(**wait):
    return HOURS_TO_DAY | wait


def at_least(n):
    return {"wait_policy": {"type": "MinimumCount", "n": n}}


def until(then):
    return {"wait_policy": {"type": "Deadline", "after": 1800, "then": then}}


# Each row gives keys of one kind: assets that take different rows seldom meet.
OF_REGIONS = [
    FIXED,
    rollup("tw", "jp"),
    rollup(*SEGMENTS),
    rollup(*SEGMENTS, **at_least(-1)),
    rollup(*SEGMENTS, **at_least(1)),
    rollup(*SEGMENTS, **until("cancel")),
    rollup(*SEGMENTS, **until("fire")),
    {"type": "AllPartitionsMapper", "downstream_key": "all"},
    {"type": "LatestPartitionMapper", "downstream_key": "all"},
]
OF_HOURS = [
    {"type": "StartOfDayMapper"},
    hours(),
    hours(**at_least(3)),
    hours(**at_least(-22)),
    hours(**until({"type": "MinimumCount", "n": 1})),
    hours(**until("cancel")),
]
OF_KEYS = [
    IDENTITY,
    SPREAD,
    SPREAD | {"max_downstream_keys": 23},
    {"type": "AllowedKeyMapper", "allowed_keys": ["tw", "jp"]},
    {"type": "StartOfHourMapper"},
    {"type": "StartOfDayMapper", "output_format": "%d.%m.%Y"},
    {"type": "StartOfDayMapper", "timezone": "Asia/Taipei"},
]
ROWS = (OF_REGIONS, OF_HOURS, OF_KEYS)
KINDS = (
    (OF_REGIONS, SEGMENTS),
    (OF_HOURS, tuple(DAY)),
    (OF_HOURS, tuple(DAY[:3])),
    (OF_KEYS, (DAY[0][:10], *DAY[:3], *SEGMENTS)),
)
STRICT = (
    (rollup(*SEGMENTS), rollup(*SEGMENTS, **at_least(-1)), OF_REGIONS, SEGMENTS),
    (hours(), hours(**at_least(-1)), OF_HOURS, tuple(DAY)),
)
MAPPERS = st.sampled_from([mapper for row in ROWS for mapper in row])
LATES = ("settle", "immediate", "hold", "mark_stale", "restart")
SETTLES = (0, 60, 7200)
LATE, SETTLE = st.sampled_from(LATES), st.sampled_from(SETTLES)
JOINED = st.sampled_from(["all", "all", "any", "one"])
# What may happen: to any key, to one that a round has had, to the engine, and by a person.
EMITS = st.one_of(
    st.tuples(st.just("emit"), st.sampled_from(ASSETS), st.sets(st.sampled_from(KEYS), min_size=1)),
    st.tuples(st.just("emit"), st.sampled_from(ASSETS), st.sets(st.sampled_from(KEYS), min_size=3)),
    st.tuples(st.just("emit"), st.sampled_from(ASSETS), st.just([None])),
)
OTHERS = st.one_of(
    st.tuples(st.just("wipe"), st.sampled_from(ASSETS), st.sampled_from(KEYS)),
    st.sampled_from([("turn",), ("turn",), ("route",), ("wait",), ("pause",), ("cancel",), ("forget",)]),
)


def again(keys):
    """One key that has been counted comes anew, or all of them of one asset."""
    some = st.one_of(st.sampled_from(keys).map(lambda key: {key}), st.just(set(keys)))
    return st.tuples(st.just("emit"), st.sampled_from(ASSETS), some)


def alike(row, late=LATE):
    """Both assets give keys of one kind, so that they meet."""
    mappers = st.tuples(st.sampled_from(row), st.sampled_from(row))
    return st.fixed_dictionaries(
        {"mappers": mappers, "assets": JOINED}, optional={"late": late, "settle": SETTLE}
    )


def schedules():
    mappers = st.tuples(MAPPERS, MAPPERS)
    optional = {"late": LATE, "settle": SETTLE}
    anything = st.fixed_dictionaries({"mappers": mappers, "assets": JOINED}, optional=optional)
    return st.one_of(st.sampled_from(ROWS).flatmap(alike), anything)


WHAT = st.sampled_from(["late", "late", "late", "settle", "assets", "mapper", "mapper"])


@st.composite
def slight_edits(draw, schedule, parts=WHAT):
    """`schedule` with something in it changed."""
    what = draw(parts)
    if what == "mapper":
        place = draw(st.integers(0, 1))
        row = next(row for row in ROWS if schedule["mappers"][place] in row)
        mappers = list(schedule["mappers"])
        mappers[place] = draw(st.sampled_from([each for each in row if each != mappers[place]]))
        return schedule | {"mappers": tuple(mappers)}
    values = {"late": (*LATES, *["mark_stale"] * 3), "settle": SETTLES, "assets": ("all", "any", "one")}[what]
    return schedule | {what: draw(st.sampled_from([each for each in values if each != schedule.get(what)]))}


@st.composite
def by_chance(draw):
    deeds = draw(st.lists(st.one_of(EMITS, OTHERS), min_size=4, max_size=20))
    return draw(schedules()), deeds, draw(schedules())


@st.composite
def of_later_rounds(draw):
    """A first round has fired and another is open, or will be; then something small changes."""
    row, keys = draw(st.sampled_from(KINDS))
    schedule = draw(alike(row, st.sampled_from(["settle", "hold", "restart"])))
    deeds = [*_filled(keys), ("turn",), *draw(st.lists(again(keys), min_size=1, max_size=2)), ("turn",)]
    deeds += draw(st.lists(st.one_of(again(keys), EMITS, OTHERS), max_size=2))
    return schedule, deeds, draw(slight_edits(schedule))


@st.composite
def of_first_rounds(draw):
    """Some has come, and it may be long ago."""
    row, keys = draw(st.sampled_from(KINDS))
    schedule = draw(alike(row))
    deeds = [*draw(st.lists(again(keys), min_size=1, max_size=3)), ("turn",)]
    deeds += draw(st.sampled_from([[], [("wait",)], [("wait",)], [("pause",)]]))
    return schedule, deeds, draw(slight_edits(schedule))


@st.composite
def there_and_back(draw):
    """Keys have fired, the Dag listens otherwise for a while, and comes back to them."""
    row, keys = draw(st.sampled_from(KINDS))
    schedule = draw(alike(row))
    deeds = [*_filled(keys), ("turn",), ("edit", draw(schedules()))]
    deeds += draw(st.lists(st.one_of(again(keys), again(keys), EMITS, OTHERS), min_size=1, max_size=4))
    deeds += draw(st.sampled_from([[], [("turn",)]]))
    return schedule, deeds, draw(st.one_of(st.just(schedule), slight_edits(schedule)))


@st.composite
def of_lost_keys(draw):
    """Nearly all has come, and some of it was wiped when it was counted; then less is enough."""
    strict, just_enough, row, keys = draw(st.sampled_from(STRICT))
    deeds = [("emit", "a", set(keys[1:])), ("emit", "b", set(keys)), ("turn",)]
    deeds += [
        ("vanish", "a", key) for key in draw(st.lists(st.sampled_from(keys[1:]), min_size=1, max_size=2))
    ]
    deeds += draw(st.sampled_from([[], [], [("wait",)], [("pause",)]]))
    other = draw(st.sampled_from(row))
    schedule = {"mappers": (strict, other), "assets": draw(JOINED)}
    loose = schedule | {"mappers": (just_enough, other)}
    return schedule, deeds, draw(st.one_of(st.just(loose), slight_edits(schedule, st.just("mapper"))))


@st.composite
def of_refused_keys(draw):
    """Some keys could not be mapped, and can be then; perhaps what they map to has fired since."""
    refusing = draw(st.sampled_from(OF_KEYS[2:]))
    schedule = {"mappers": (refusing, draw(st.sampled_from(OF_KEYS))), "assets": draw(JOINED)}
    some = st.sets(st.sampled_from([*SEGMENTS, DAY[0], DAY[0][:10]]), min_size=2)
    deeds = [
        ("emit", "a", draw(some)),
        ("turn",),
        *draw(st.lists(st.one_of(again(SEGMENTS), OTHERS), max_size=2)),
    ]
    return schedule, deeds, draw(slight_edits(schedule, st.just("mapper")))


KINDS_OF_STORIES = (
    by_chance,
    of_later_rounds,
    of_first_rounds,
    there_and_back,
    of_lost_keys,
    of_refused_keys,
)
"""Each makes (how the Dag listens, what happens, how it is to listen then)."""


def _filled(keys):
    return [("emit", asset, set(keys)) for asset in ASSETS]
