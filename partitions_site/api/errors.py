"""What is answered when a request cannot be: `{"detail": text}`, or a list of problems if it does not fit."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.settings import api_settings
from rest_framework.views import exception_handler

from scheduling import backfills, configuration, elsewhere, events, holds, keeping, runs, sensors, wiping
from scheduling.algebra.errors import PartitionError
from scheduling.configuration import pools
from scheduling.idempotency import IdempotencyKeyTaken

Problem = dict[str, Any]

MOST_PROBLEMS = 100
"""A request with more problems than this is told the first ones."""


class BadRequest(exceptions.APIException):
    status_code = status.HTTP_400_BAD_REQUEST


class WrongCredentials(exceptions.APIException):
    status_code = status.HTTP_401_UNAUTHORIZED


class Conflict(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT


class TooLarge(exceptions.APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE


class TooMany(exceptions.APIException):
    """Too many requests; `wait` is in how many seconds there may be another, told in `Retry-After`."""

    status_code = status.HTTP_429_TOO_MANY_REQUESTS

    def __init__(self, sentence: str, *, wait: int) -> None:
        super().__init__(sentence)
        self.wait = wait


class Unprocessable(exceptions.APIException):
    """A request that is understood but refused, in one sentence."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY


class Invalid(exceptions.APIException):
    """A request whose parts do not fit. Each problem has `type`, `loc`, `msg` and `input`."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY

    def __init__(self, problems: Iterable[Problem]) -> None:
        super().__init__()
        self.problems = list(problems)[:MOST_PROBLEMS]


def problem(kind: str, loc: Sequence[str | int], msg: str, given: object = None, **ctx: object) -> Problem:
    return {"type": kind, "loc": list(loc), "msg": msg, "input": given} | ({"ctx": ctx} if ctx else {})


def problems(errors: Any, given: Any, loc: Sequence[str | int], parent: Any = None) -> Iterable[Problem]:
    """The errors of a serializer as a flat list, each with the path to it and what was given there."""
    if isinstance(errors, Mapping):
        for name, below in errors.items():
            if name == api_settings.NON_FIELD_ERRORS_KEY:
                yield from problems(below, given, loc, parent)
            else:
                yield from problems(below, _within(given, name), [*loc, name], given)
        return
    for index, error in enumerate(errors):
        if isinstance(error, Mapping):
            yield from problems(error, _within(given, index), [*loc, index], given)
        else:
            kind = TYPES.get(error.code, error.code)
            ctx = _context(kind, str(error))
            yield problem(kind, loc, str(error), parent if kind == "missing" else given, **ctx)


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """REST framework's exception handler: turns every anticipated error into a body that clients parse."""
    if isinstance(error, PartitionError):
        error = _refusal(error)
    response = exception_handler(error, context)
    if response is None:
        return None
    if isinstance(error, Invalid):
        response.data = {"detail": error.problems}
    elif isinstance(error, Conflict):
        response.data = {"detail": error.detail}
    elif isinstance(error, exceptions.APIException) and error.detail == error.default_detail:
        response.data = {"detail": WORDS.get(type(error), str(error.detail))}
    elif isinstance(error, exceptions.MethodNotAllowed):
        response.data = {"detail": "Method Not Allowed"}
    return response


TYPES = {
    "required": "missing",
    "null": "model_attributes_type",
    "invalid": "model_attributes_type",
    "max_length": "string_too_long",
    "min_value": "greater_than_equal",
    "max_value": "less_than_equal",
    "not_a_list": "list_type",
    "not_a_dict": "dict_type",
    "invalid_choice": "enum",
    "null_characters_not_allowed": "string_unicode",
    "surrogate_characters_not_allowed": "string_unicode",
}
"""Names that Airflow's clients know for what REST framework calls otherwise."""

CONTEXT = {
    "enum": re.compile(r"be (?P<expected>.*)"),
    "string_pattern_mismatch": re.compile(r"pattern '(?P<pattern>.*)'"),
    "string_too_long": re.compile(r"most (?P<max_length>\d+)"),
    "greater_than_equal": re.compile(r"to (?P<ge>-?\d+)"),
    "less_than_equal": re.compile(r"to (?P<le>-?\d+)"),
}
"""What Airflow says beside the sentence, which holds it too."""

WORDS: dict[type[exceptions.APIException], str] = {
    exceptions.NotAuthenticated: "Not authenticated",
    exceptions.PermissionDenied: "Forbidden",
}

UNIQUE = {
    "reason": "Unique constraint violation",
    "statement": "hidden",
    "orig_error": "hidden",
}
"""What Airflow says besides the message when a name is taken."""


REFUSALS: dict[type[PartitionError], type[exceptions.APIException]] = {
    keeping.NotKept: Unprocessable,
    runs.NotRunnable: Conflict,
    sensors.NotLooking: Conflict,
    holds.NotHeld: Conflict,
    events.InactiveAsset: Conflict,
    IdempotencyKeyTaken: Unprocessable,
    wiping.NeverSeen: exceptions.NotFound,
    wiping.EventConsumed: Conflict,
    elsewhere.NotWithYou: Conflict,
    configuration.StaleSchedule: Conflict,
    pools.PoolTaken: Conflict,
    pools.PoolInUse: Conflict,
    backfills.TooManyKeys: Unprocessable,
    backfills.StalePlan: Conflict,
    backfills.NothingToBackfill: Conflict,
    backfills.BackfillOver: Conflict,
}
"""What the engine refuses because of the state things are in; anything else it refuses is a bad request."""


def _refusal(error: PartitionError) -> exceptions.APIException:
    if isinstance(error, runs.DuplicateRunId):
        return Conflict(UNIQUE | {"message": str(error)})
    kind = next((REFUSALS[each] for each in type(error).__mro__ if each in REFUSALS), BadRequest)
    return kind(str(error))


def _context(kind: str, sentence: str) -> dict[str, object]:
    found = CONTEXT[kind].search(sentence) if kind in CONTEXT else None
    if found is None:
        return {}
    return {
        name: int(text) if text.lstrip("-").isdigit() else text for name, text in found.groupdict().items()
    }


def _within(given: Any, step: str | int) -> Any:
    try:
        return given[step]
    except (TypeError, KeyError, IndexError):
        return None
