"""The lab of the API's tests, and the command line."""

import io
import json

import pytest

from partitions_site.cli import program
from tests.api.conftest import lab, settle

__all__ = ["lab", "settle"]


@pytest.fixture
def partita(db, capsys):
    """Runs a command that must succeed, and gives what it prints; `json=True`: what it says to programs."""

    def partita(*words, as_json=False):
        out = io.StringIO()
        status = program.main([*words, *(["--json"] if as_json else [])], out)
        assert status == 0, capsys.readouterr().err
        return json.loads(out.getvalue()) if as_json else out.getvalue()

    return partita


@pytest.fixture
def refused(db, capsys):
    """Runs a command that must be refused, and gives the sentence."""

    def refused(*words):
        out = io.StringIO()
        assert program.main(words, out) == 1
        assert out.getvalue() == ""
        return capsys.readouterr().err

    return refused
