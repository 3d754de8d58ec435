"""JSON that people type: the conf of a run, the extra of an event; and what is said of it meanwhile."""

import pytest

from core.models import AssetEvent, DagRun
from tests.engine import world
from tests.web.reading import read

pytestmark = pytest.mark.django_db

WRONG = [
    ('{"rows": }', "expecting value (line 1, character 10)"),
    ("[1]", "and not [1]"),
    ('{"rows": NaN}', "not JSON"),
    ('{"rows": ' + "9" * 5000 + "}", "too long"),
]


@pytest.mark.parametrize("name", ["conf", "extra"])
@pytest.mark.parametrize(("text", "words"), WRONG)
def test_what_is_wrong_is_said_while_it_is_typed(visitor, name, text, words):
    [told] = read(visitor.post("/written", {name: text})).all("div", id="written")
    assert words in told.text
    assert told.attributes["data-wrong"].startswith(name)
    assert told.attributes["data-of"] == name


@pytest.mark.parametrize("text", ["", " ", "{}", '{"rows": 3}'])
def test_nothing_is_said_of_what_is_right(visitor, text):
    [told] = read(visitor.post("/written", {"conf": text})).all("div", id="written")
    assert (told.text, told.attributes["class"]) == ("", "means")


class TestConf:
    def test_goes_with_every_run_that_is_triggered(self, visitor):
        world.dag("fill", {"type": "PartitionedAtRuntime"})
        sent = {"dag": "fill", "key": "a\nb", "several": "yes", "conf": '{"city": "sf"}'}
        visitor.post("/trigger", sent)
        assert [run.conf for run in DagRun.objects.all()] == [{"city": "sf"}] * 2

    def test_a_wrong_one_triggers_nothing_and_is_kept_to_be_mended(self, visitor):
        world.dag("report")
        answer = visitor.post("/trigger", {"dag": "report", "conf": "{city}"})
        assert answer.status_code == 422
        page = read(answer)
        assert page.all("textarea", name="conf")[0].text == "{city}"
        assert 'conf is a JSON object such as {"rows": 3}' in page.text
        assert not DagRun.objects.exists()


class TestExtra:
    def test_goes_with_an_event_that_is_recorded_by_hand(self, visitor):
        world.asset("orders")
        visitor.post("/record", {"asset": "orders", "key": "a", "extra": '{"rows": 3}'})
        assert AssetEvent.objects.get().extra == {"rows": 3, "recorded_by_hand": True}
        told = read(visitor.get("/assets/orders?key=a"))
        assert "recorded by hand yes" in told.text.replace("  ", " ")

    def test_a_wrong_one_records_nothing(self, visitor):
        world.asset("orders")
        answer = visitor.post("/record", {"asset": "orders", "key": "a", "extra": "3"})
        assert answer.status_code == 422
        assert "and not 3" in read(answer).text
        assert not AssetEvent.objects.exists()
