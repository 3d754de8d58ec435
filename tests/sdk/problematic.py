"""Definitions that may have problems: what emits keys, and who listens to it."""

from collections.abc import Callable
from datetime import datetime
from textwrap import dedent

from tests.sdk.writing import NOW, Directory

HOURLY = """
    @asset(schedule=CronPartitionTimetable("0 * * * *"))
    def hourly(self): ...
"""
DAILY = """
    @asset(schedule=CronPartitionTimetable("0 0 * * *", key_format="%Y-%m-%d"))
    def daily(self): ...
"""


def definer(directory: Directory) -> Callable[..., None]:
    """Defines all that is in some texts, whatever is wrong with it."""

    def define(*texts: str, at: datetime = NOW) -> None:
        directory.write("defs", "\n".join(dedent(text) for text in texts))
        directory.sync(at)

    return define


def consumer(assets: str, mapper: str = "IdentityMapper()", config: str = "{}") -> str:
    return f"""
    DAG("c", schedule=PartitionedAssetTimetable(
        assets={assets}, default_partition_mapper={mapper}, partition_mapper_config={config}
    ))
    """
