import pytest

from core.making import Maker
from core.models import Asset, DagRun, HeldRun
from tests.engine.world import NOW, dag

pytestmark = pytest.mark.django_db


class TestMaker:
    def test_what_it_makes_is_what_the_constructor_makes(self):
        for model in (HeldRun, DagRun, Asset):
            made, constructed = Maker(model)(), model()
            names = [field.attname for field in model._meta.concrete_fields if not field.generated]
            assert [getattr(made, name) for name in names] == [getattr(constructed, name) for name in names]
            assert made._state.adding

    def test_no_two_share_a_default_that_can_change(self):
        make = Maker(DagRun)
        make().conf["n"] = 1
        assert make().conf == {}

    def test_it_is_saved_as_any_other(self):
        owner = dag("d", None)
        row = Maker(HeldRun)(dag_id=owner.pk, partition_key="k", opened_at=NOW, last_event_at=NOW)
        row.save()
        assert (row.dag, HeldRun.objects.get(pk=row.pk).partition_key) == (owner, "k")
