"""The examples of docs/api.md run as they stand, and answer what they say."""

import json
import os
import re
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from partitions_site import roles
from partitions_site.api import pages, urls
from partitions_site.api.bulk_events import MOST_EVENTS
from scheduling import holds

PAPER = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
BLOCKS = re.findall(r"^```(sh|json)\n(.*?)^```$", PAPER, re.DOTALL | re.MULTILINE)
ANYTHING = "…"


def examples():
    """Each script with the answer that stands below it, if one does."""
    for at, (kind, text) in enumerate(BLOCKS):
        if kind == "sh":
            follows = BLOCKS[at + 1] if at + 1 < len(BLOCKS) else ("", "")
            yield text, json.loads(follows[1]) if follows[0] == "json" else None


def said(told, found):
    """Is everything that the paper tells in what was found?"""
    if isinstance(told, dict):
        return isinstance(found, dict) and all(
            name in found and said(told[name], found[name]) for name in told
        )
    if isinstance(told, list):
        return isinstance(found, list) and len(told) == len(found) and all(map(said, told, found))
    if isinstance(told, str) and ANYTHING in told:
        return str(found).startswith(told.partition(ANYTHING)[0])
    return told == found


class Shell:
    """One shell for all scripts of the paper, so that a variable set by one is there for the next."""

    def __init__(self, host):
        self._process = subprocess.Popen(
            ["bash", "-e"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=os.environ | {"HOST": host, "PASSWORD": "secret"},
        )

    def run(self, script):
        self._process.stdin.write(f"{script}\necho; echo '--end--'\n")
        self._process.stdin.flush()
        lines = []
        for line in self._process.stdout:
            if line.strip() == "--end--":
                return "".join(lines)
            lines.append(line)
        pytest.fail(f"{script}\nended with: {''.join(lines)}")

    def close(self):
        self._process.stdin.close()
        self._process.wait(timeout=10)
        self._process.stdout.close()


@pytest.mark.django_db(transaction=True)
class TestExamples:
    @pytest.fixture
    def shell(self, lab, live_server):
        User.objects.create_superuser("admin", password="secret")
        shell = Shell(urlsplit(live_server.url).netloc)
        yield shell
        shell.close()

    def test_run_one_after_another_and_answer_what_they_say(self, shell):
        for script, told in examples():
            printed = shell.run(script)
            if told is not None:
                found = json.loads(printed)
                assert said(told, found), f"{script}\ntold {told}\nfound {found}"
            while holds.route_pending(now=timezone.now()) or holds.judge_due(now=timezone.now()):
                pass


class TestPaper:
    def test_has_examples(self):
        assert len(list(examples())) > 6

    def test_names_only_addresses_that_there_are(self):
        known = [re.sub(r"<\w+:\w+>", r"[^/]+", str(pattern.pattern)) for pattern in urls.urlpatterns]
        named = re.findall(
            r"(?:\$HOST|`(?:GET |DELETE |POST )?)(/(?:api|auth|ui|livez|readyz|docs)[^\s\"`?]*)", PAPER
        )
        assert len(named) > 10
        for address in named:
            plain = re.sub(r"\{\w+\}|\$\w+", "x", address).strip("/")
            assert plain == "api/v2" or any(re.fullmatch(each, plain) for each in known), address

    def test_names_every_role(self):
        assert re.findall(r"^\| (\w+) \|", PAPER.partition("| group |")[2], re.MULTILINE) == list(
            roles.GRANTS
        )

    def test_names_the_limits_as_they_are(self):
        assert f"`limit` ({pages.LIMIT}, at most {pages.MOST_ROWS})" in PAPER
        assert f"stops counting at {pages.MOST_COUNTED:,}" in PAPER
        assert f"up to {MOST_EVENTS:,}" in PAPER
