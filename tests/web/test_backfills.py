"""The pages of backfills: how they go on, and what came of each partition."""

import pytest
from django.utils import timezone

from core.models import Backfill, BackfillPartition, DagRun
from scheduling import claims, turns
from scheduling.backfills import Reprocess, Wanted
from tests.backfills import play
from tests.backfills.play import begin, execute, listener, turn
from tests.engine.world import IDENTITY
from tests.web.reading import read

pytestmark = pytest.mark.django_db
TEN = "[2026-03-01...2026-03-10]"


class TestList:
    def test_an_empty_list_teaches(self, visitor):
        page = read(visitor.get("/backfills"))
        assert "A backfill runs a Dag for many partitions" in page.text
        assert page.links["plan one by typing"] == "/backfills/new"

    def test_shows_each_with_its_counts(self, visitor, load):
        made = begin(load, selection=TEN, title="March")
        page = read(visitor.get("/backfills"))
        assert page.links["March"] == f"/backfills/{made.pk}"
        assert "2 skipped, 8 open" in page.text

    def test_is_narrowed_and_says_so_when_nothing_is_left(self, visitor, load):
        begin(load, selection=TEN)
        assert "No backfill matches" in read(visitor.get("/backfills?dag=other")).text
        assert TEN in read(visitor.get("/backfills?dag=load&show=open")).text

    def test_older_ones_are_a_page_away(self, visitor, load):
        for number in range(52):
            begin(load, keys=("2026-03-01",), reprocess=Reprocess.COMPLETED, title=f"no. {number}")
            BackfillPartition.objects.all().delete()
            Backfill.objects.update(completed_at=timezone.now(), advance_after=None)
        page = read(visitor.get("/backfills"))
        assert "no. 0" not in page.links
        assert "no. 0" in read(visitor.get("/backfills" + page.links["Older"])).links


class TestBackfill:
    @pytest.mark.parametrize(
        ("asked", "words"),
        [
            ({}, "what is missing"),
            ({"reprocess": Reprocess.FAILED}, "what is missing or failed"),
            ({"reprocess": Reprocess.COMPLETED}, "everything, also what has data"),
            ({"wanted": Wanted.MISSING}, "what is missing"),
            ({"wanted": Wanted.FAILED_AND_MISSING}, "what is missing or failed"),
        ],
    )
    def test_says_which_run_in_the_words_of_the_plan(self, visitor, load, asked, words):
        made = begin(load, selection=TEN, **asked)
        page = read(visitor.get(f"/backfills/{made.pk}"))
        facts = [each.text for each in page.elements if each.tag in ("dt", "dd")]
        assert facts[facts.index("Which run") + 1] == words

    def test_every_key_is_a_square_with_its_state(self, visitor, load):
        made = begin(load, selection=TEN)
        turn()
        execute(most=3, fail=["2026-03-03"])
        turn()
        page = read(visitor.get(f"/backfills/{made.pk}"))
        labels = [each.attributes["aria-label"] for each in page.elements if _is_square(each)]
        assert labels[:3] == ["2026-03-01: done", "2026-03-02: skipped, it has data", labels[2]]
        assert labels[2].startswith("2026-03-03: failed")
        assert len(labels) == 10
        assert "10 keys: 2 done, 1 failed, 2 skipped, 5 open" in page.text

    def test_a_key_whose_run_waits_for_its_turn_says_so(self, visitor, load):
        made = begin(load, selection=TEN, max_active_runs=2)
        turn()
        claims.claim(turns.dispatch(now=play.NOW)[0], worker="w", now=play.NOW)
        page = read(visitor.get(f"/backfills/{made.pk}"))
        labels = [each.attributes["aria-label"] for each in page.elements if _is_square(each)]
        assert labels[0] == "2026-03-01: running"
        assert labels[2] == "2026-03-03: queued"
        assert page.links["1 running"] == "?state=running"
        assert "as many again are queued" in page.text
        rows = read(visitor.get(f"/backfills/{made.pk}" + page.links["3 queued"])).all("tr")
        assert [row.text.partition(" ")[0] for row in rows[1:]] == ["queued", "queued", "queued"]

    def test_what_failed_is_listed_with_its_reason_and_run(self, visitor, load):
        made = begin(load, selection=TEN)
        turn()
        execute(fail=["2026-03-03"])
        turn()
        page = read(visitor.get(f"/backfills/{made.pk}"))
        run = DagRun.objects.get(partition_key="2026-03-03")
        assert page.links["2026-03-03"] == f"/runs/{run.pk}"
        assert "boom: no disk" in page.text

    def test_a_state_is_a_list(self, visitor, load):
        made = begin(load, selection=TEN)
        page = read(visitor.get(f"/backfills/{made.pk}"))
        page = read(visitor.get(f"/backfills/{made.pk}" + page.links["2 skipped"]))
        rows = [row.text for row in page.all("tr")]
        assert rows[1:] == ["skipped 2026-03-02 it has data", "skipped 2026-03-05 it has data"]

    def test_moves_until_nothing_is_open(self, visitor, load):
        made = begin(load, selection=TEN)
        assert "data-live" in visitor.part(f"/backfills/{made.pk}", "now").content.decode()
        play.drive(made)
        response = visitor.part(f"/backfills/{made.pk}", "now")
        assert "data-live" not in response.content.decode()
        assert "10 keys: 8 done, 2 skipped" in read(response).text

    def test_counts_add_up_to_what_was_planned(self, visitor, load):
        made = begin(load, selection=TEN)
        turn()
        execute(most=2, fail=["2026-03-01"])
        turn()
        play.backfills.cancel(made, deed=play.ALICE, at=play.NOW)
        how = play.counts(made)
        assert how["planned"] == sum(count for name, count in how.items() if name != "planned")
        text = read(visitor.get(f"/backfills/{made.pk}")).text
        assert f"10 keys: {how['done']} done, 1 failed, 2 skipped, {how['cancelled']} cancelled" in text

    def test_several_dags_are_told_apart(self, visitor, load):
        listener("sum", "days", "sums", IDENTITY)
        made = begin(load, selection="2026-03-01", with_downstream=True)
        page = read(visitor.get(f"/backfills/{made.pk}?state=waiting"))
        assert [row.text for row in page.all("tr")][1:] == ["waiting sum 2026-03-01"]

    def test_a_run_leads_to_its_backfill(self, visitor, load):
        made = begin(load, selection=TEN)
        turn()
        page = read(visitor.get(f"/runs/{DagRun.objects.first().pk}"))
        assert page.links[f"backfill {made.pk}"] == f"/backfills/{made.pk}"

    def test_the_journal_is_narrowed_to_it(self, visitor, load):
        made = begin(load, selection=TEN)
        begin(load, keys=("2026-03-11",))
        address = read(visitor.get(f"/backfills/{made.pk}")).links["what was done to it"]
        page = read(visitor.get(address))
        assert len(page.all("tr")) == 2
        assert page.links[f"backfill {made.pk}"] == f"/backfills/{made.pk}"

    def test_there_is_none_of_that_number(self, visitor):
        assert visitor.get("/backfills/77").status_code == 404


def _is_square(element):
    return element.attributes.get("class", "").startswith("c ")
