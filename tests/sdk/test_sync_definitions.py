import threading
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from core.models import Asset, Dag, DefinitionSource, Dependency
from tests.sdk.writing import NOW, Directory, dag


def sync_definitions(*sources: str) -> str:
    out = StringIO()
    call_command("sync_definitions", *sources, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
class TestCommand:
    def test_says_what_it_found(self, directory):
        directory.write("a", """DAG("one", schedule=Asset("x"))\nDAG("two")""")
        assert sync_definitions(str(directory.path)) == "1 file, 1 asset, 2 Dags\n"

    def test_takes_the_sources_of_the_installation(self, directory, settings):
        settings.DEFINITIONS = [directory.write("a", """DAG("one")""")]
        sync_definitions()
        assert dag("one").is_active

    def test_fails_with_every_trouble_and_has_written_the_rest(self, directory):
        bad = directory.write("bad", "1 / 0")
        directory.write("good", """DAG("good")\nDAG("odd", max_active_runs=0)""")
        with pytest.raises(CommandError) as refusal:
            sync_definitions(str(directory.path))
        assert str(refusal.value).splitlines() == [
            f"{bad}, line 2: ZeroDivisionError: division by zero",
            "Dag odd: max_active_runs is a whole number from 1 on, not 0",
        ]
        assert dag("good").is_active


@pytest.mark.django_db(transaction=True)
def test_two_first_looks_at_once_write_everything_once(tmp_path):
    """As when engine and web start together: whoever comes second finds it written."""
    directory = Directory(tmp_path)
    for name in "abc":
        directory.write(
            name,
            f"""DAG("{name}", schedule=PartitionedAssetTimetable(assets=Asset("x") & Asset("{name}")))""",
        )
    barrier, troubles = threading.Barrier(3), []

    def look() -> None:
        barrier.wait()
        try:
            troubles.extend(directory.sync(NOW).troubles)
        except Exception as error:
            troubles.append(repr(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert troubles == []
    assert (DefinitionSource.objects.count(), Dag.objects.count()) == (3, 3)
    assert (Asset.objects.count(), Dependency.objects.count()) == (4, 6)
