import os
import threading

import pytest
from django.db import connection

from core.models import Dag, DefinitionSource
from partitions_site import reloading
from scheduling.watch import Watch
from tests.waiting import wait_for

ONE_DAG = """
from scheduling.sdk import DAG

with DAG(dag_id="{name}"):
    pass
"""


def write(path, text):
    """Write as an editor does, with a time that differs from the last."""
    before = path.stat().st_mtime_ns if path.exists() else 0
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


class TestWatch:
    def test_the_first_look_is_a_change(self, tmp_path):
        assert Watch([str(tmp_path)]).has_changed()

    def test_nothing_new_is_no_change(self, tmp_path):
        write(tmp_path / "a.py", "x = 1")
        watch = Watch([str(tmp_path)])
        watch.has_changed()
        assert not watch.has_changed()

    @pytest.mark.parametrize("deed", ["changed", "added", "taken away"])
    def test_notices_a_file_that_was(self, tmp_path, deed):
        write(tmp_path / "a.py", "x = 1")
        watch = Watch([str(tmp_path)])
        watch.has_changed()
        if deed == "changed":
            write(tmp_path / "a.py", "x = 2")
        elif deed == "added":
            write(tmp_path / "b.py", "y = 1")
        else:
            (tmp_path / "a.py").unlink()
        assert watch.has_changed()
        assert not watch.has_changed()

    def test_a_source_that_is_not_there_is_noticed_when_it_comes(self, tmp_path):
        watch = Watch([str(tmp_path / "late.py"), "no.such.module"])
        watch.has_changed()
        assert not watch.has_changed()
        write(tmp_path / "late.py", "x = 1")
        assert watch.has_changed()


@pytest.mark.django_db(transaction=True)
class TestFollowing:
    @pytest.fixture
    def follow(self, monkeypatch):
        monkeypatch.setattr(reloading, "SECONDS_BETWEEN_LOOKS", 0.05)
        stop, threads = threading.Event(), []
        yield lambda *sources: threads.append(reloading.follow_in_background(sources, stop))
        stop.set()
        for thread in threads:
            thread.join(10)

    def test_loads_at_the_start_and_after_each_change(self, tmp_path, follow):
        file = tmp_path / "shop.py"
        write(file, ONE_DAG.format(name="first"))
        follow(str(file))
        wait_for(lambda: Dag.objects.filter(dag_id="first", is_active=True).exists())
        write(file, ONE_DAG.format(name="second"))
        wait_for(lambda: Dag.objects.filter(dag_id="second", is_active=True).exists())
        assert not Dag.objects.get(dag_id="first").is_active

    def test_goes_on_after_a_file_that_cannot_be_run(self, tmp_path, follow):
        file = tmp_path / "shop.py"
        write(file, "1 / 0")
        follow(str(file))
        wait_for(lambda: DefinitionSource.objects.exclude(error="").exists())
        write(file, ONE_DAG.format(name="mended"))
        wait_for(lambda: Dag.objects.filter(dag_id="mended").exists())
        assert not DefinitionSource.objects.exclude(error="").exists()
        connection.close()

    def test_tries_again_when_the_database_did_not_take_them(self, tmp_path, follow, caplog):
        file = tmp_path / "shop.py"
        write(file, ONE_DAG.format(name="kept"))
        with connection.schema_editor() as editor:
            editor.alter_db_table(DefinitionSource, "core_definitionsource", "away")
        try:
            follow(str(file))
            wait_for(lambda: "could not be written" in caplog.text)
        finally:
            with connection.schema_editor() as editor:
                editor.alter_db_table(DefinitionSource, "away", "core_definitionsource")
        wait_for(lambda: Dag.objects.filter(dag_id="kept").exists())
        connection.close()
