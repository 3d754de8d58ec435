"""The usual settings, but the broker thinks after four seconds that a message is lost and sends it again."""

import os

from celery.signals import task_postrun

from partitions_site.settings import *  # noqa: F403
from partitions_site.settings import CELERY_BROKER_TRANSPORT_OPTIONS as USUAL
from tests.services.stages import here, take_note

CELERY_BROKER_TRANSPORT_OPTIONS = USUAL | {"visibility_timeout": 4, "unacked_restore_interval": 1}


@task_postrun.connect(weak=False)
def note_answer(task, args, **_):
    if task.name == "scheduling.execute_run":
        take_note(here(), "answered", args[0], os.getpid())
