"""Every command and every deed, asked by a program: each answers in JSON, and in nothing else."""

import io
import json

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from core.models import DagRun, HeldRun
from partitions_site.cli import program
from partitions_site.cli.completion import tree
from scheduling import backfills, claims
from scheduling.algebra import specs
from scheduling.algebra.partitions import DynamicPartitions
from tests.engine import world

NEED_MORE = {"", "/keys", "/backfill", "/completion"}
"""What is no command without another word."""

SELECTED = ("--select", "[2026-02-18T00:00:00...2026-02-18T02:00:00]")


@pytest.fixture
def ask(lab):
    """Asks as a program does; `ask.asked` are the commands that were."""
    paths = tree(program.build())
    asked = set()

    def ask(*words):
        path = ""
        for word in words:
            path = f"{path}/{word}" if f"{path}/{word}" in paths else path
        asked.add(path)
        out = io.StringIO()
        assert program.main([*words, "--json"], out) == 0, path
        return json.loads(out.getvalue())

    ask.asked = asked
    return ask


@pytest.fixture
def stores(db):
    return world.asset("stores", group="shop", partitions=specs.dump(DynamicPartitions("store")))


def looked_at(ask):
    """Assets, their partitions and the keys of dynamic ones."""
    assert {row["name"] for row in ask("assets")} == {row["name"] for row in ask("assets", "list")}
    assert ask("assets", "regional_orders")["name"] == "regional_orders"
    assert ask("emit", "regional_orders", "tw", "jp")
    assert [row["partition_key"] for row in ask("partitions", "regional_orders")] == ["jp", "tw"]
    assert ask("keys", "add", "store", "north", "south")
    assert len(ask("keys", "list", "store")) == 2
    assert ask("keys", "remove", "store", "south")
    assert ask("wipe", "regional_orders", "jp")["partition_keys"] == ["jp"]


def waited_for(ask, settle):
    """Held runs: looked at, judged anew, cancelled, fired."""
    settle()
    first = str(HeldRun.objects.get().pk)
    assert [row["id"] for row in ask("held")] == [row["id"] for row in ask("held", "list")] == [int(first)]
    assert ask("held", "show", first)["verdict"] == "waiting"
    assert ask("explain", "lab_region_rollup", "all_regions")["standing"] == "held"
    assert ask("held", "reevaluate", first)
    assert ask("held", "cancel", first)
    ask("emit", "regional_orders", "us")
    settle()
    assert ask("held", "fire", str(HeldRun.objects.held().get().pk))


def ran(ask):
    """Dags and runs."""
    assert {row["dag_id"] for row in ask("dags")} == {row["dag_id"] for row in ask("dags", "list")}
    assert ask("dags", "show", "lab_plain")["dag_id"] == "lab_plain"
    assert ask("dags", "pause", "lab_plain")
    assert ask("dags", "unpause", "lab_plain")
    assert ask("trigger", "lab_plain")
    run = DagRun.objects.get(dag__dag_id="lab_plain")
    assert ask("runs", "show", str(run.pk))["id"] == run.pk
    claims.fail(claims.claim(run.pk, worker="w", now=timezone.now()), "boom", at=timezone.now())
    assert ask("runs", "log", str(run.pk)) == []
    assert ask("runs", "retry", str(run.pk))
    assert ask("runs", "cancel", str(run.pk))
    assert len(ask("runs")) == len(ask("runs", "list")) == 2


def made_up_for(ask):
    """Backfills."""
    assert ask("backfill", "plan", "lab_hourly_sales", *SELECTED)
    begun = ask("backfill", "start", "lab_hourly_sales", *SELECTED)
    number = str(begun["id"])
    backfills.advance(now=timezone.now())
    for run in DagRun.objects.filter(run_type="backfill"):
        claims.fail(claims.claim(run.pk, worker="w", now=timezone.now()), "boom", at=timezone.now())
    backfills.advance(now=timezone.now())
    for deed in ("show", "retry", "pause", "resume", "cancel"):
        assert ask("backfill", deed, number)["id"] == begun["id"]
    assert [row["id"] for row in ask("backfill", "list")] == [begun["id"]]


def looked_after(ask):
    """Sensors, tokens, grants and pools."""
    world.sensor("inbox")
    User.objects.create(username="ann")
    for deed in ("show", "looks", "pause", "resume", "look"):
        ask("sensors", deed, "inbox")
    ask("sensors", "rewind", "inbox", "a")
    assert len(ask("sensors")) == len(ask("sensors", "list")) == 1
    token = ask("tokens", "make", "ann", "nightly")
    assert len(ask("tokens")) == len(ask("tokens", "list")) == 1
    assert ask("tokens", "revoke", token["id"])
    grant = ask("grants", "give", "viewer", "shop", "--login", "ann")
    assert len(ask("grants")) == len(ask("grants", "list")) == 1
    assert ask("grants", "take", str(grant["id"]))
    assert ask("pools", "set", "gate", "2")
    assert len(ask("pools")) == len(ask("pools", "list")) == 1
    assert ask("pools", "delete", "gate")
    assert ask("check", "--codes")["file"]


@pytest.mark.django_db
def test_every_command_answers_a_program(ask, stores, settle):
    looked_at(ask)
    waited_for(ask, settle)
    ran(ask)
    made_up_for(ask)
    looked_after(ask)
    assert set(tree(program.build())) - ask.asked == NEED_MORE
