import pytest
from django.db.models import Q

from core.models import ConsumedEvent, Partition
from tests.engine.world import IDENTITY, NOW, asset, consumer, emit, turn

pytestmark = pytest.mark.django_db

KEYS = ("{a,b}", "NULL", "it's", 'say "k"', "a\\|b", "東京", "%s")


def write(*keys):
    Partition.objects.bulk_create(Partition(asset=asset("a"), key=key, updated_at=NOW) for key in keys)


def found(condition):
    return set(Partition.objects.filter(condition).values_list("key", flat=True))


class TestAnyOf:
    def test_it_finds_what_has_one_of_the_values(self):
        write(*KEYS, "other")
        assert found(Q(key__any=KEYS)) == set(KEYS)
        assert found(Q(key__any=[*KEYS, *KEYS, "absent"])) == set(KEYS)
        pks = Partition.objects.filter(key="NULL").values_list("pk", flat=True)
        assert found(Q(pk__any=list(pks))) == {"NULL"}

    def test_none_of_no_values(self):
        write("k")
        assert found(Q(key__any=[])) == set()
        assert found(~Q(key__any=[])) == {"k"}
        assert found(Q(key__any=[]) | Q(key="k")) == {"k"}

    def test_rows_are_named_by_their_primary_keys(self):
        consumer("copy", {"a": IDENTITY})
        first, _ = emit("a", "k", "other")
        turn()
        assert ConsumedEvent.objects.filter(event__any=[first.event.pk]).count() == 1
