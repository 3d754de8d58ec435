from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.phrases import MOST_CHARACTERS, MOST_PIECES, key_list

HOURS = [f"2026-03-10T{hour:02}:00:00" for hour in range(24)]


class TestKeyList:
    def test_what_all_keys_share_is_left_out(self):
        missing = [HOURS[9], HOURS[11], HOURS[22]]
        assert key_list(missing, HOURS, "hours") == "hours 09, 11, 22"

    def test_composite_keys_lose_their_common_segments_too(self):
        keys = [f"seattle|{hour}" for hour in HOURS]
        assert key_list([keys[3]], keys, "hours") == "hour 03"

    def test_three_neighbours_become_a_range_and_two_do_not(self):
        assert key_list(HOURS[3:6] + HOURS[8:10], HOURS) == "keys 03–05, 08, 09"

    def test_a_number_is_never_cut_in_two(self):
        keys = ["2026-03-10", "2026-03-11", "2026-03-12"]
        assert key_list(keys[:1], keys, "days") == "day 10"

    def test_names_are_said_whole(self):
        assert key_list(["jp", "us"], ["tw", "jp", "us"], "segments") == "segments jp, us"

    def test_a_single_key_is_said_whole(self):
        assert key_list(["2026-03-10"], ["2026-03-10"]) == "key 2026-03-10"

    def test_a_long_list_is_counted_out(self):
        odd = [f"k{number}" for number in range(1, 80, 2)]
        words = key_list(odd, [f"k{number}" for number in range(80)])
        assert words.endswith(f"and {len(odd) - MOST_PIECES} more")
        assert words.count(",") == MOST_PIECES - 1

    def test_long_keys_are_counted_out_sooner(self):
        keys = [letter * 99 for letter in "abcdefg"]
        assert key_list(keys[::2], keys) == f"keys {keys[0]}, {keys[2]}, {keys[4]} and 1 more"
        longest = "x" * (MOST_CHARACTERS + 1)
        assert key_list([longest], [longest, "y"]) == f"key {longest}"

    def test_nothing_missing_is_nothing_said(self):
        assert key_list([], HOURS) == ""

    @given(st.lists(st.text(min_size=1, max_size=8), unique=True, min_size=1, max_size=30), st.randoms())
    def test_no_key_becomes_empty_and_none_is_forgotten(self, keys, chance):
        chosen = [key for key in keys if chance.random() < 0.5]
        words = key_list(chosen, keys)
        assert bool(words) == bool(chosen)
        for piece in words.removeprefix("keys ").split(", ") if chosen else ():
            assert piece != ""
