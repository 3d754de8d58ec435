import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra import specs
from scheduling.algebra.condition_text import InvalidCondition, parse, written
from scheduling.algebra.conditions import All, Any, AssetLeaf, AssetRef
from scheduling.algebra.errors import InvalidDefinition

A, B, C = (AssetLeaf(name) for name in "abc")

NAMES = st.text(min_size=1, max_size=12)
LEAVES = st.one_of(
    st.builds(AssetLeaf, NAMES), st.builds(AssetRef, name=NAMES), st.builds(AssetRef, uri=NAMES)
)


def grouped(parts):
    several = st.lists(parts, min_size=2, max_size=4).map(tuple)
    return st.one_of(several.map(All), several.map(Any))


CONDITIONS = st.recursive(LEAVES, grouped, max_leaves=12)


class TestParse:
    @pytest.mark.parametrize(
        ("text", "condition"),
        [
            ("a", A),
            ("a & b", A & B),
            ("a&b|c", (A & B) | C),
            ("a | b & c", A | (B & C)),
            ("a & (b | c)", A & (B | C)),
            ("((a))", A),
            ("\n a\n & b ", A & B),
            ('"a b" & "say \\"x\\" & y"', AssetLeaf("a b") & AssetLeaf('say "x" & y')),
            ("ref(a) & uri(s3://lab/x)", AssetRef(name="a") & AssetRef(uri="s3://lab/x")),
            ('ref & uri & "ref"', AssetLeaf("ref") & AssetLeaf("uri") & AssetLeaf("ref")),
            ("日本/orders", AssetLeaf("日本/orders")),
        ],
    )
    def test_reads_as_python_does(self, text, condition):
        assert parse(text) == condition

    @pytest.mark.parametrize(
        ("text", "position", "said"),
        [
            ("", 0, "the name of an asset belongs here, at the end"),
            ("a &", 3, "the name of an asset belongs here, at the end"),
            ("a & & b", 4, "the name of an asset belongs here, at character 5"),
            ("a b", 2, "`&` or `|` belongs here, or the end, at character 3"),
            ("a and b", 2, "`&` or `|` belongs here"),
            ("a & (b | c", 4, "the bracket that opens here has no end, at character 5"),
            ("a)", 1, "`&` or `|` belongs here"),
            ('a & "b', 4, "the quotation mark that opens here has no end"),
            ('""', 0, "a name cannot be empty"),
            ("uri(s3://x", 3, "the bracket that opens here has no end"),
            ("(" * 60 + "a", 51, "nested too deeply"),
        ],
    )
    def test_points_at_what_is_wrong(self, text, position, said):
        with pytest.raises(InvalidCondition) as refusal:
            parse(text)
        assert refusal.value.position == position
        assert said in str(refusal.value)
        assert refusal.value.pointed().splitlines()[-1] == " " * position + "^"

    def test_points_into_the_line_that_is_wrong(self):
        with pytest.raises(InvalidCondition) as refusal:
            parse("a &\nb c")
        assert refusal.value.pointed() == "b c\n  ^"

    @given(st.text(alphabet='ab&|() "\\', max_size=14))
    def test_reads_it_or_names_a_place_in_it(self, text):
        place = 0
        try:
            found = parse(text)
        except InvalidCondition as refusal:
            place = refusal.position
        else:
            assert parse(written(found)) == found
        assert 0 <= place <= len(text)


class TestWritten:
    @given(CONDITIONS)
    def test_is_read_back_as_it_was(self, condition):
        assert parse(written(condition)) == condition

    def test_brackets_only_groups(self):
        assert written(A & (B | C)) == "a & (b | c)"
        assert written(Any((All((A,)), B))) == "a | b"


class TestInSpecs:
    def test_a_text_stands_for_a_condition(self):
        assert specs.load("a & (b | c)", "condition") == A & (B | C)

    def test_a_refusal_names_the_place_in_the_spec_and_the_character(self):
        with pytest.raises(InvalidDefinition) as refusal:
            specs.load({"type": "PartitionedAssetTimetable", "assets": "a & (b"}, "timetable")
        assert (refusal.value.path, refusal.value.position) == ("assets", 4)
