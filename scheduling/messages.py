"""Messages that tell workers which run to execute; whether any of them wait."""

import logging
from collections.abc import Sequence

from celery import current_app
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)

WORK = "work"
"""The queue of the runs."""


def send(run_pks: Sequence[int]) -> Sequence[int]:
    """Send a message for each of the runs, in order; those for which none could be sent."""
    for place, run_pk in enumerate(run_pks):
        try:
            current_app.send_task("scheduling.execute_run", [run_pk], retry=False)
        except OperationalError as error:
            log.warning("%d runs are not started now, the next sweep will: %s", len(run_pks) - place, error)
            return run_pks[place:]
    return ()


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
