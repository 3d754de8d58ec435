"""Lists, narrowed: by patterns, beginnings, values and spans."""

from datetime import timedelta

import pytest
from django.db.models import Q
from django.http import QueryDict

from core.models import Asset
from partitions_site.api.errors import Invalid, Unprocessable
from partitions_site.api.fields import Whole
from partitions_site.api.filters import AnyOf, Exactly, Pattern, Prefix, Range, When
from tests.api.listed import NAMES, NOW

pytestmark = pytest.mark.django_db


def names(query, *filters):
    found = Asset.objects.order_by("id")
    for each in filters:
        found = found.filter(each.narrow(QueryDict(query)))
    return list(found.values_list("name", flat=True))


class TestPattern:
    @pytest.mark.parametrize(
        ("term", "found"),
        [
            ("SALES", ["Hourly_sales", "daily_sales"]),
            ("hourly_", ["Hourly_sales", "hourly%orders"]),
            ("h%s", ["Hourly_sales", "hourly%orders"]),
            ("daily|tw", ["daily_sales", "tw|2026", "tw"]),
            ("~", NAMES),
            ("daily|~", NAMES),
            ("", NAMES),
            ("nothing", []),
            ("a\\", []),
        ],
    )
    def test_has_live_wildcards_and_alternatives(self, assets, term, found):
        assert names(f"name_pattern={term.replace('%', '%25')}", Pattern("name", "name")) == found

    def test_may_take_a_bar_for_itself(self, assets):
        assert names("name_pattern=tw|2", Pattern("name", "name", alternatives=False)) == ["tw|2026"]

    @pytest.mark.parametrize("kind", [Pattern, Prefix])
    def test_has_so_many_alternatives_and_no_more(self, assets, kind):
        """A condition of thousands is more than SQLite can read."""
        name = f"name_{'' if kind is Pattern else 'prefix_'}pattern"
        terms = [f"nothing{number}" for number in range(100)]
        assert names(f"{name}={'|'.join(terms)}", kind("name", "name")) == []
        assert names(f"{name}={'|'.join(['daily'] * 5000)}", kind("name", "name")) == ["daily_sales"]
        with pytest.raises(Invalid) as caught:
            names(f"{name}={'|'.join([*terms, 'more'])}", kind("name", "name"))
        assert caught.value.problems[0]["msg"] == "At most 100 alternatives, not 101"

    def test_refuses_what_no_column_can_hold(self, assets):
        with pytest.raises(Invalid) as caught:
            names("name_pattern=a%00", Pattern("name", "name"))
        assert caught.value.problems[0]["loc"] == ["query", "name_pattern"]


class TestPrefix:
    @pytest.mark.parametrize(
        ("term", "found"),
        [
            ("hourly", ["hourly%orders"]),
            ("Hourly", ["Hourly_sales"]),
            ("hourly_", ["hourly%orders"]),
            ("hourly%", ["hourly%orders"]),
            ("daily|Hour", ["Hourly_sales", "daily_sales"]),
            ("ü", ["ünder"]),
            ("___", NAMES),
            ("sales", []),
        ],
    )
    def test_is_exact_but_for_punctuation_at_its_end(self, assets, term, found):
        assert names(f"name_prefix_pattern={term.replace('%', '%25')}", Prefix("name", "name")) == found


class TestOtherFilters:
    def test_a_range_has_four_ends(self, assets):
        Asset.objects.filter(name="tw").update(created_at=NOW + timedelta(days=1))
        at = "2026-03-11T09:00:00Z"
        created = Range("created_at", "created_at")
        assert names(f"created_at_gte={at}", created) == ["tw"]
        assert names(f"created_at_gt={at}", created) == []
        assert names(f"created_at_lte={at}", created) == NAMES
        assert "tw" not in names(f"created_at_lt={at}", created)

    @pytest.mark.parametrize("naive", ["2026-03-11", "2026-03-11T00:00:00"])
    def test_an_instant_without_an_offset_is_utc(self, assets, naive):
        assert names(f"created_at_lt={naive}", Range("created_at", "created_at")) == NAMES

    def test_a_range_refuses_what_is_no_instant(self, assets):
        with pytest.raises(Invalid) as caught:
            names("created_at_gte=yesterday", Range("created_at", "created_at"))
        assert caught.value.problems[0]["loc"] == ["query", "created_at_gte"]

    def test_any_of_may_be_repeated_or_joined(self, assets):
        assert names("n=tw&n=daily_sales", AnyOf("n", "name")) == ["daily_sales", "tw"]
        assert names("n=tw,daily_sales", AnyOf("n", "name", commas=True)) == ["daily_sales", "tw"]
        assert names("n=tw,daily_sales", AnyOf("n", "name")) == []

    def test_any_of_means_what_it_is_told_to(self, assets):
        sales = AnyOf("kind", "name", {"sales": ("Hourly_sales", "daily_sales"), "none": ()})
        assert names("kind=sales", sales) == ["Hourly_sales", "daily_sales"]
        assert names("kind=none", sales) == []
        with pytest.raises(Unprocessable, match=r"Invalid value for kind\. Valid values are sales, none"):
            names("kind=other", sales)

    def test_any_of_has_a_fallback(self, assets):
        assert names("", AnyOf("n", "name", fallback=("tw",))) == ["tw"]

    def test_exactly_reads_numbers(self, assets):
        row = assets[2]
        assert names(f"id={row.pk}", Exactly("id", "id", Whole)) == [row.name]
        assert names(f"id={2**70}", Exactly("id", "id", Whole)) == []
        with pytest.raises(Invalid):
            names("id=x", Exactly("id", "id", Whole))

    def test_when_has_a_default(self, assets):
        Asset.objects.filter(name="tw").update(is_active=False)
        only = When("only_active", lambda only: Q(is_active=only), default="true")
        assert "tw" not in names("", only)
        assert names("only_active=false", only) == ["tw"]
