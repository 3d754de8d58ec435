"""The only writer of assets, Dags, what they listen to and what they write, and of sensors.

1. `apply` takes all definition files at once, loaded or not, in one transaction.
2. Assets come first, merged from every file that names them, so that references find what is defined later.
3. Then Dags, one by one. One that cannot be keeps what it was and shows why; its neighbours are written.
4. What nothing defines any more becomes inactive. Nothing is deleted that was ever received or run.
5. A Dag that somebody gave another schedule (`overriding`) keeps it; what its file says is noted beside it.
6. Dags that listen otherwise than before have their held runs judged again.
"""

from scheduling.configuration.applying import SyncReport, apply
from scheduling.configuration.overriding import (
    NotChangeable,
    ReasonNeeded,
    StaleSchedule,
    assets_of,
    back_to_code,
    change_mapper,
    change_schedule,
    read_schedule,
)
from scheduling.configuration.pausing import set_paused
from scheduling.configuration.previewing import Effect, Preview, preview
from scheduling.configuration.sensors import set_cursor, set_sensor_paused
from scheduling.configuration.telling import is_changeable, told
from scheduling.configuration.trying import try_schedule

__all__ = [
    "Effect",
    "NotChangeable",
    "Preview",
    "ReasonNeeded",
    "StaleSchedule",
    "SyncReport",
    "apply",
    "assets_of",
    "back_to_code",
    "change_mapper",
    "change_schedule",
    "is_changeable",
    "preview",
    "read_schedule",
    "set_cursor",
    "set_paused",
    "set_sensor_paused",
    "told",
    "try_schedule",
]
