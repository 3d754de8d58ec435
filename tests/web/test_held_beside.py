"""One held run beside the list of all, on an address of its own."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import DagRun
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, consumer, emit, hours, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db

DIALOG_OF = {"Record an event…": "dialog", "Trigger ingest…": "form"}
"""The class of the form that each deed opens."""


def test_tells_what_its_page_does(visitor, day):
    world.dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["hourly"])
    [panel] = read(visitor.get(f"/held?run={day.pk}")).all("aside")
    assert "hidden" not in panel.attributes
    assert "Missing 3 of 24: hours 09, 11, 22" in panel.text
    assert panel.text.count("Trigger ingest…") == 3
    page = read(visitor.part(f"/held?run={day.pk}", "panel"))
    assert page.links["Its page"] == f"/held/{day.pk}"
    assert page.links["×"] == "?"


def test_a_line_leads_to_its_page_and_knows_what_is_beside(visitor, day):
    page = read(visitor.get(f"/held?dag=sum&run={day.pk}"))
    [link] = page.all("a", href=f"/held/{day.pk}", class_="key")
    assert link.attributes["data-beside"] == f"?dag=sum&run={day.pk}"
    [row] = page.all("tr", aria_current="true")
    assert row.attributes["id"] == f"held-{day.pk}"


@pytest.mark.parametrize("address", ["/held", "/held?run=0", "/held?run=99", "/held?run=x"])
def test_is_hidden_where_none_is_meant(visitor, day, address):
    [panel] = read(visitor.get(address)).all("aside")
    assert "hidden" in panel.attributes
    assert panel.text == ""


def test_deeds_lead_back_to_it(visitor, day):
    address = f"/held?run={day.pk}"
    links = read(visitor.get(address)).links
    for deed, path in (("Fire now…", "fire"), ("Cancel…", "cancel")):
        assert links[deed] == f"/held/{day.pk}/{path}?back=%2Fheld%3Frun%3D{day.pk}"
    assert read(visitor.get(links["Cancel…"])).links["No, go back"] == address
    assert visitor.post(links["Fire now…"])["Location"] == address
    page = read(visitor.get(address))
    assert page.links["Its run: queued"] == f"/runs/{DagRun.objects.get().pk}"
    assert [each.text for each in page.all("aside") if "by operator" in each.text]


def test_what_was_cancelled_says_why(visitor, day):
    visitor.post(f"/held/{day.pk}/cancel", {"reason": "not needed"})
    [panel] = read(visitor.get(f"/held?run={day.pk}")).all("aside")
    assert "cancelled" in panel.text
    assert "by operator: not needed" in panel.text


def test_a_missing_key_is_recorded_or_triggered_and_one_is_back(visitor, day):
    world.dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["hourly"])
    address = f"/held?run={day.pk}"
    links = read(visitor.get(address)).links
    for words in ("Record an event…", "Trigger ingest…"):
        [form] = read(visitor.get(links[words])).all("form", class_=DIALOG_OF[words])
        sent = {"asset": "hourly", "dag": "ingest", "key": "2026-03-10T09:00:00"}
        assert visitor.post(form.attributes["action"], sent)["Location"] == address


def test_costs_a_fixed_number_of_queries(visitor):
    consumer("sum", {"hourly": HOURS_TO_DAY})
    emit("hourly", *hours("2026-03-10", 1), *hours("2026-03-11", *range(20)))
    turn()
    held = [world.held("sum", key) for key in ("2026-03-10", "2026-03-11")]
    few, many = (queries(lambda row=row: visitor.part(f"/held?run={row.pk}", "panel")) for row in held)
    assert few == many <= 18


def test_costs_one_query_more_than_the_list_alone(visitor, day):
    """What the list asks of its rows is asked of it as well, at once."""
    alone = queries(lambda: visitor.get("/held"))
    assert queries(lambda: visitor.get(f"/held?run={day.pk}")) == alone + 1


def test_beside_itself_in_the_list_it_says_all_and_the_list_the_first_key(visitor, day):
    page = read(visitor.get(f"/held?run={day.pk}"))
    [panel], [row] = page.all("aside"), page.all("tr", id=f"held-{day.pk}")
    keys = ["2026-03-10T09:00:00", "2026-03-10T11:00:00", "2026-03-10T22:00:00"]
    assert [key in panel.text for key in keys] == [True, True, True]
    assert [key in row.text for key in keys] == [True, False, False]


def queries(ask) -> int:
    ask()  # what a process reads once, it has read now
    with CaptureQueriesContext(connection) as found:
        ask()
    return len(found)
