"""Messages that tell workers which run to execute and which sensor to look; whether any of them wait."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from celery import current_app
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)

WORK = "work"
"""The queue of the runs, and of what else calls code of authors."""

T = TypeVar("T")


def send(run_pks: Sequence[int], longest: Mapping[int, float] | None = None) -> Sequence[int]:
    """Send a message for each of the runs, in order; those for which none could be sent.

    :param longest: seconds after which a process that is still at it is ended, by the primary key. The task
        is told: every message has a limit, and whose it is does not show.
    """
    own = longest or {}

    def arguments(pk: int) -> list[float]:
        return [pk, own[pk]] if pk in own else [pk]

    return _send("scheduling.execute_run", run_pks, arguments, own.get)


def send_looks(looks: Sequence[tuple[int, int]], longest: Mapping[int, float]) -> Sequence[tuple[int, int]]:
    """The same for looks of sensors, each a primary key and a number."""
    return _send("scheduling.look", looks, list, lambda look: longest.get(look[0]))


def none_waits() -> bool:
    """Whether the broker says that no message waits for a worker. False as well if it does not answer."""
    connection = current_app.connection_for_write()
    try:
        with connection:
            queue = connection.default_channel.queue_declare(WORK, passive=True)
            return not queue.message_count
    except connection.channel_errors:  # there is no such queue: nothing was ever sent, or the broker lost all
        return True
    except (*connection.connection_errors, OperationalError) as error:
        log.warning("the broker does not say what waits: %s", error)
        return False


def _send(
    task: str,
    all_of_it: Sequence[T],
    arguments: Callable[[T], list[float]],
    longest: Callable[[T], float | None] = lambda _: None,
) -> Sequence[T]:
    for place, each in enumerate(all_of_it):
        try:
            current_app.send_task(task, arguments(each), retry=False, **_limits(longest(each)))
        except OperationalError as error:
            log.warning("%d of %s are sent with the next sweep: %s", len(all_of_it) - place, task, error)
            return all_of_it[place:]
    return ()


def _limits(seconds: float | None) -> dict[str, float]:
    """The process is interrupted a second before it is ended: Celery heeds no end that comes before that."""
    return {} if seconds is None else {"soft_time_limit": seconds - 1, "time_limit": seconds}
