import re
from pathlib import Path

from partitions_site.cli import names
from partitions_site.environment import Knob, markdown_table
from partitions_site.settings import env

HOME = Path(__file__).parents[2]


class TestOperationsPaper:
    def test_holds_the_table_of_all_settings(self):
        """Made by `./partita settings_table`."""
        assert markdown_table(env.knobs) in (HOME / "docs" / "operations.md").read_text()

    def test_names_only_commands_that_exist(self):
        named = set(re.findall(r"\./partita (\w+)", (HOME / "docs" / "operations.md").read_text()))
        ours = {path.stem for path in (HOME / "partitions_site" / "management" / "commands").glob("*.py")}
        assert named - ours - names.COMMANDS.keys() == {"migrate", "changepassword", "createsuperuser"}


class TestSettings:
    def test_every_variable_is_read_once(self):
        names = [knob.name for knob in env.knobs]
        assert len(names) == len(set(names))

    def test_our_own_variables_carry_our_name(self):
        known_elsewhere = {"DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL"}
        assert all(knob.name.startswith("PARTITA_") for knob in env.knobs if knob.name not in known_elsewhere)

    def test_every_variable_says_what_it_does(self):
        assert all(knob.purpose for knob in env.knobs)

    def test_nothing_else_reads_the_environment(self):
        """But for the settings themselves, what runs before them, and the supervisor's children."""
        allowed = {"settings.py", "celery.py", "asgi.py", "wsgi.py", "lifeline.py", "supervisor.py"}
        packages = ("core", "scheduling", "partitions_site")
        readers = {
            path.name
            for package in packages
            for path in (HOME / package).rglob("*.py")
            if re.search(r"\bos\.(environ|getenv)\b", path.read_text())
        }
        assert readers <= allowed


class TestMarkdownTable:
    def test_leaves_the_cell_of_an_empty_default_empty(self):
        table = markdown_table([Knob("A", "", "one"), Knob("B", "2", "two")])
        assert table.splitlines()[2:] == ["| `A` |  | one |", "| `B` | `2` | two |"]
