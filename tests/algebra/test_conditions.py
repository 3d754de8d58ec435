import pytest

from scheduling.algebra.conditions import All, Any, AssetLeaf, AssetRef
from scheduling.algebra.errors import InvalidDefinition

A, B, C = AssetLeaf("a"), AssetLeaf("b"), AssetLeaf("c")


class TestJoining:
    def test_and_and_or_keep_their_order_and_flatten(self):
        assert All((A, B, C)) == A & B & C
        assert Any((A, B, C)) == A | B | C
        assert All((A, Any((B, C)))) == A & (B | C)

    def test_something_that_is_no_asset_is_refused(self):
        with pytest.raises(InvalidDefinition, match="join assets with"):
            A & "b"

    def test_a_reference_takes_a_name_or_a_uri_and_not_both(self):
        assert AssetRef(uri="s3://x").words() == "s3://x"
        for bad in ({}, {"name": "a", "uri": "b"}):
            with pytest.raises(InvalidDefinition):
                AssetRef(**bad)


class TestTruth:
    @pytest.mark.parametrize(
        ("present", "expected"),
        [(set(), False), ({A}, False), ({A, C}, True), ({B, C}, False), ({A, B}, True)],
    )
    def test_it_follows_the_leaves(self, present, expected):
        assert (A & (B | C)).holds(present.__contains__) is expected

    def test_leaves_come_once_in_the_order_written(self):
        assert list((B & (A | B)).leaves()) == [B, A]


class TestWords:
    def test_parentheses_stand_where_they_matter(self):
        assert (A & (B | C)).words() == "a and (b or c)"

    def test_each_leaf_can_be_said_in_another_way(self):
        assert (A | B).words(lambda leaf: leaf.name.upper()) == "A or B"
