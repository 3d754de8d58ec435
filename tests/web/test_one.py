"""Of one thing is spoken in the singular."""

import pytest

from partitions_site import roles
from tests.backfills.play import begin
from tests.engine import world
from tests.web.reading import read

pytestmark = pytest.mark.django_db


def test_one_key_of_a_backfill_is_still_to_do(visitor, load):
    made = begin(load, keys=("2026-03-01",))
    assert "1 of 1 key still to do; none" in read(visitor.get(f"/backfills/{made.pk}/pause")).text
    assert "1 of 1 key still to do: those" in read(visitor.get(f"/backfills/{made.pk}/cancel")).text
    assert "what is not done: 1 key." in read(visitor.get(f"/backfills/{made.pk}/resume")).text


def test_one_key_that_is_left_out_of_a_plan_is_the_only_one(visitor, load):
    page = read(visitor.get("/backfills/new", {"dag": load.dag_id, "selection": "2026-03-02"}))
    assert "There is nothing to backfill: the only key is left out (it has data)." in page.text


def test_one_partition_is_marked(visitor_of, load):
    editor = visitor_of(roles.EDITOR)
    hidden = read(editor.get("/mark?asset=days&sel=2026-03-02")).all("input", type="hidden")
    asked = {each.attributes["name"]: each.attributes["value"] for each in hidden}
    for kind, words in (("data", "having data"), ("missing", "having no data")):
        answer = editor.post("/mark", asked | {"as": kind})
        assert f"Marked 1 partition of days as {words}." in read(editor.get(answer["Location"])).text


def test_one_key_is_added(visitor):
    world.asset("stores", partitions={"type": "DynamicPartitions", "name": "store"})
    answer = visitor.post("/keys/add", {"asset": "stores", "keys": "north"})
    assert "Added 1 key." in read(visitor.get(answer["Location"])).text
