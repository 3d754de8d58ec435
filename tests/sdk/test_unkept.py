"""Definitions that hold what no database keeps stop themselves, and no neighbour."""

import pytest

from core.models import Asset, Sensor
from tests.sdk.writing import dag, sentences, source

HALF, NUL = r"\ud800", r"\0"


class TestFiles:
    @pytest.mark.parametrize(
        "text",
        [
            """Asset("a", extra={"ratio": float("nan")})""",
            """Asset("a", extra={"ratio": object()})""",
            f"""Asset("a", extra={{"of": ["x{NUL}"]}})""",
            f"""Asset("a", extra={{"x{HALF}": 1}})""",
            """extra = {}\nextra["me"] = extra\nAsset("a", extra=extra)""",
            f"""Asset("a{HALF}")""",
            f"""Asset("a", group="g{NUL}")""",
            f"""raise RuntimeError("a{NUL}b{HALF}")""",
            "import asyncio\nraise asyncio.CancelledError",
            "raise GeneratorExit",
            "class Odd(Exception):\n    def __str__(self): return 1 / 0\nraise Odd",
        ],
    )
    def test_are_shown_with_their_error_and_line(self, directory, text):
        bad = directory.write("a_bad", text)
        directory.write("b_good", """DAG("good")""")
        directory.sync()
        assert source(bad).error
        assert source(bad).error_line
        assert dag("good").is_active

    def test_say_which_part_cannot_be_kept(self, directory):
        bad = directory.write("a", """Asset("a", extra={"ratio": float("nan")})""")
        directory.sync()
        assert source(bad).error == "InvalidDefinition: the extra of an asset holds what is no JSON: nan"

    def test_may_hold_whatever_json_can(self, directory):
        extra = {"a": [1, 2.5, None, True, {"é": "✓"}]}
        directory.write("a", f"""a = Asset("a", extra={extra!r})""")
        assert directory.sync().ok
        assert Asset.objects.get(name="a").extra == extra


class TestDags:
    @pytest.mark.parametrize(
        ("field", "text"),
        [
            ("description", f"""DAG("bad", description="a{NUL}")"""),
            ("tags", f"""DAG("bad", tags=["a{HALF}"])"""),
            ("tasks", f"""with DAG("bad"):\n    task(task_id="t{NUL}")(print)()"""),
        ],
    )
    def test_are_refused_by_the_field_and_stop_no_neighbour(self, directory, field, text):
        directory.write("a", f"""{text}\nDAG("good")""")
        directory.sync()
        assert len(sentences("bad")) == 1
        assert sentences("bad")[0].startswith(f"{field} holds a character that cannot be stored")
        assert dag("good").is_active


class TestSensors:
    def test_are_described_without_what_cannot_be_kept(self, directory):
        directory.write("a", f"""@sensor\ndef inbox(look):\n    "New files.{NUL}{HALF}\"""")
        assert directory.sync().ok
        assert Sensor.objects.get(name="inbox").description == "New files.\ufffd?"
