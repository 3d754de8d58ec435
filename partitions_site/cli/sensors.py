"""`partita sensors`: what looks at the world outside, what it found, and what a person may do about it."""

from argparse import ArgumentParser, Namespace

from core.models import Sensor
from partitions_site.cli.names import called
from partitions_site.cli.parsing import NotFound, Spoken, add_deed, add_deeds, add_limit, deed, now
from partitions_site.cli.replies import Reply, done, none_of, sheet, shown, table
from scheduling import configuration, sensors
from scheduling.algebra.durations import duration_words

COLUMNS = {
    "name": "SENSOR",
    "every": "EVERY",
    "is_paused": "PAUSED",
    "outcome": "LAST LOOK",
    "looked_at": "AT",
    "sentence": "FOUND",
}
LOOKS = {"at": "AT", "outcome": "OUTCOME", "seconds": "SECONDS", "sentence": "FOUND", "cursor": "CURSOR"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--match", default="", metavar="TEXT", help="only those with this in their name")
    parser.add_argument("--all", action="store_true", help="those that nothing defines any more as well")
    add_limit(parser)
    parser.set_defaults(do=_list)
    made = add_deeds(
        parser,
        Spoken("show", "all about one", _show),
        Spoken("looks", "its last looks that found something or failed", _looks),
        Spoken("look", "let it look at once", _look, is_deed=True),
        Spoken("pause", "let it look no more", _pause, is_deed=True),
        Spoken("resume", "let it look again, at once", _resume, is_deed=True),
        Spoken("rewind", "set the note of how far it has seen", _rewind),
    )
    for each in made.values():
        each.add_argument("name", metavar="SENSOR")
    made["rewind"].add_argument("cursor", metavar="CURSOR", help="as its author writes it; '' to begin anew")
    add_deed(made["rewind"])
    add_limit(made["looks"])


def _list(given: Namespace) -> Reply:
    rows = Sensor.objects.filter(name__icontains=given.match)
    found = (rows if given.all else rows.filter(is_active=True)).order_by("name")[: given.limit]
    return table([_row(each) for each in found], COLUMNS, none_of("sensors", given.match))


def _show(given: Namespace) -> Reply:
    sensor = _find(given.name)
    more = {
        "description": sensor.description,
        "timeout_seconds": sensor.timeout.total_seconds(),
        "problem": sensor.problem,
        "cursor": sensor.cursor,
        "failures": sensor.failures,
        "next_look_at": shown(sensor.next_look_at),
    }
    return sheet({**_row(sensor), **more})


def _looks(given: Namespace) -> Reply:
    rows = [
        {
            "at": shown(each.at),
            "outcome": each.outcome,
            "seconds": each.took.total_seconds(),
            "sentence": each.sentence,
            "cursor": each.cursor,
            "error": each.error,
        }
        for each in _find(given.name).looks.order_by("-id")[: given.limit]
    ]
    return table(rows, LOOKS, f"{given.name} has found nothing, and no look has failed.")


def _look(given: Namespace) -> Reply:
    sensor = _find(given.name)
    sensors.look_now(sensor, deed=deed(given), at=now())
    return done(f"{sensor} looks within a second or two", _row(_find(given.name)))


def _pause(given: Namespace) -> Reply:
    return _set_paused(given, True)


def _resume(given: Namespace) -> Reply:
    return _set_paused(given, False)


def _rewind(given: Namespace) -> Reply:
    sensor = _find(given.name)
    configuration.set_cursor(sensor, given.cursor, deed=deed(given), at=now())
    return done(f"{sensor} goes on from {sensor.cursor!r}", _row(sensor) | {"cursor": sensor.cursor})


def _set_paused(given: Namespace, paused: bool) -> Reply:
    sensor = _find(given.name)
    changed = configuration.set_sensor_paused(sensor, paused, deed=deed(given), at=now())
    sentence = f"{sensor} {'looks no more' if paused else 'looks again'}" + ("" if changed else ", as before")
    return done(sentence, _row(sensor) | {"changed": changed})


def _find(name: str) -> Sensor:
    found = Sensor.objects.filter(name=name).first()
    if found is None:
        raise NotFound(f"no sensor is called {name}: `{called()} sensors` lists them")
    return found


def _row(sensor: Sensor) -> dict[str, object]:
    return {
        "name": sensor.name,
        "every": duration_words(sensor.every),
        "every_seconds": sensor.every.total_seconds(),
        "is_paused": sensor.is_paused,
        "is_active": sensor.is_active,
        "outcome": sensor.outcome or None,
        "looked_at": shown(sensor.looked_at),
        "sentence": sensor.sentence,
    }
