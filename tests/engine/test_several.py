"""A deed done to several: no refusal holds up the others, and many go in one transaction."""

import pytest
from django.db import IntegrityError, OperationalError, ProgrammingError

from scheduling import several
from scheduling.runs import NotRunnable

pytestmark = pytest.mark.django_db


class Numbered:
    def __init__(self, pk):
        self.pk = pk


class TestInPortions:
    ROWS = [Numbered(pk) for pk in range(several.PORTION + 3)]

    def test_what_is_left_over_is_done_alone_and_says_why_not(self):
        sizes = []

        def do_all(rows):
            sizes.append(len(rows))
            return {row.pk for row in rows if row.pk % 2}

        def do(row):
            if row.pk % 4:
                raise NotRunnable(f"{row.pk} is odd")

        outcome = several.in_portions(self.ROWS, do_all, do)
        assert sizes == [several.PORTION, 3]
        assert {row.pk for row in outcome.done} == {
            pk for pk in range(len(self.ROWS)) if pk % 2 or not pk % 4
        }
        assert {row.pk: why for row, why in outcome.refused} == {
            pk: f"{pk} is odd" for pk in range(len(self.ROWS)) if pk % 4 == 2
        }

    @pytest.mark.parametrize("error", [OperationalError, IntegrityError, NotRunnable])
    def test_where_a_portion_is_undone_each_is_done_alone(self, error):
        alone = []

        def do_all(rows):
            if any(row.pk == 1 for row in rows):
                raise error("one is bad")
            return {row.pk for row in rows}

        outcome = several.in_portions(self.ROWS, do_all, lambda row: alone.append(row.pk))
        assert alone == list(range(several.PORTION))
        assert (len(outcome.done), outcome.refused) == (len(self.ROWS), [])

    def test_what_is_wrong_with_the_deed_itself_is_no_reason_to_do_each_alone(self):
        alone = []

        def do_all(rows):
            raise ProgrammingError("no such column")

        with pytest.raises(ProgrammingError):
            several.in_portions(self.ROWS, do_all, lambda row: alone.append(row.pk))
        assert alone == []

    @pytest.mark.parametrize(("error", "is_told"), [(IntegrityError, True), (NotRunnable, False)])
    def test_of_what_nobody_expects_the_log_says_where_it_was(self, caplog, error, is_told):
        def do_all(rows):
            raise error("one is bad")

        several.in_portions(self.ROWS[:1], do_all, lambda row: None)
        [record] = caplog.records
        assert bool(record.exc_info) is is_told


class TestOneByOne:
    def test_a_refusal_holds_up_no_other(self):
        def do(number):
            if number % 2:
                raise NotRunnable(f"{number} is odd")

        outcome = several.one_by_one(range(4), do)
        assert outcome.done == [0, 2]
        assert outcome.refused == [(1, "1 is odd"), (3, "3 is odd")]

    @pytest.mark.parametrize(
        ("times", "done"), [(several.MOST_UNDONE - 1, True), (several.MOST_UNDONE, False)]
    )
    def test_what_the_database_undid_is_begun_anew_so_often(self, times, done):
        class Undone(Exception):
            sqlstate = "40P01"

        tried = []

        def do(row):
            tried.append(row)
            if len(tried) <= times:
                raise OperationalError from Undone()

        if done:
            assert several.one_by_one(["k"], do).done == ["k"]
        else:
            with pytest.raises(OperationalError):
                several.one_by_one(["k"], do)
        assert len(tried) == several.MOST_UNDONE
