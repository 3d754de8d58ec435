import pytest

from scheduling.algebra import specs
from scheduling.algebra.conditions import AssetLeaf
from scheduling.algebra.errors import InvalidDefinition
from scheduling.sdk import Asset


class TestAsset:
    def test_is_named_by_its_uri_if_it_has_no_name(self):
        assert Asset(uri="s3://warehouse/daily_sales").name == "s3://warehouse/daily_sales"

    def test_takes_name_and_uri_in_this_order(self):
        sales = Asset("daily_sales", "s3://warehouse/daily_sales")
        assert (sales.name, sales.uri) == ("daily_sales", "s3://warehouse/daily_sales")

    def test_is_the_same_asset_wherever_it_is_written(self):
        full = Asset("sales", uri="s3://sales", group="shop", extra={"owner": "ann"})
        assert full == Asset("sales")
        assert full != Asset("stock")
        assert len({full, Asset("sales")}) == 1

    def test_equals_the_leaf_that_its_spec_gives_back(self):
        sales = Asset("sales", uri="s3://sales")
        leaf = specs.load(specs.dump(sales), "condition")
        assert type(leaf) is AssetLeaf
        assert leaf == sales
        assert sales == leaf
        assert {leaf: 1}[sales] == 1

    def test_is_no_reference(self):
        assert Asset("sales") != Asset.ref(name="sales")

    @pytest.mark.parametrize("arguments", [{}, {"name": ""}, {"uri": ""}])
    def test_needs_a_name_or_a_uri(self, arguments):
        with pytest.raises(InvalidDefinition, match="needs a name or a uri"):
            Asset(**arguments)

    @pytest.mark.parametrize("name", [" sales", "sales ", "sa\nles", "s" * 501, "sa\0les"])
    def test_refuses_a_name_that_no_page_could_show(self, name):
        with pytest.raises(InvalidDefinition, match="the name of an asset has at most 500 characters"):
            Asset(name)

    def test_refuses_a_name_that_is_not_text(self):
        with pytest.raises(InvalidDefinition, match="the name of an asset is text, not 7"):
            Asset(7)

    def test_cannot_be_changed(self):
        with pytest.raises(AttributeError):
            Asset("sales").uri = "s3://elsewhere"


class TestConditions:
    def test_are_joined_with_and_and_or(self):
        a, b, c = Asset("a"), Asset("b"), Asset.ref(uri="s3://c")
        assert specs.dump(a & (b | c)) == {
            "all": [{"asset": "a"}, {"any": [{"asset": "b"}, {"ref_uri": "s3://c"}]}]
        }

    def test_may_begin_with_a_reference(self):
        assert specs.dump(Asset.ref(name="a") & Asset("b")) == {"all": [{"ref_name": "a"}, {"asset": "b"}]}

    def test_join_nothing_but_assets(self):
        with pytest.raises(InvalidDefinition, match="'b' is not an asset"):
            Asset("a") & "b"

    @pytest.mark.parametrize("arguments", [{}, {"name": "a", "uri": "s3://a"}])
    def test_refer_by_name_or_by_uri(self, arguments):
        with pytest.raises(InvalidDefinition, match="either a name or a uri"):
            Asset.ref(**arguments)
