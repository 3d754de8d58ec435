"""Where sentences and long names break."""

import re

from partitions_site.templatetags import lines
from partitions_site.templatetags.screens import instants

WAITS = "waiting on 1 of 23: hour 03; unexpected, so not counted: sf|2010-03-14T02:00:00 (02:00 never was)"


class TestWhole:
    def test_a_key_in_a_sentence_stays_on_one_line(self):
        shown = lines.whole(WAITS)
        assert re.findall('<span class="whole">(.*?)</span>', shown) == ["sf|2010-03-14T02:00:00"]
        assert re.sub("<[^>]+>", "", shown) == WAITS

    def test_what_follows_it_stays_with_it(self):
        assert (
            lines.whole("hours of 2010-03-14; more") == 'hours of <span class="whole">2010-03-14;</span> more'
        )

    def test_so_does_a_format_of_keys(self):
        assert "<span class=\"whole\">'%Y-%m-%dT%H'</span>" in instants("of the form '%Y-%m-%dT%H'").replace(
            "&#x27;", "'"
        )

    def test_one_longer_than_a_line_of_a_phone_breaks_where_it_must(self):
        key = "a-very-long-segment-of-a-key|2010-03-14T02:00:00"
        assert lines.whole(f"no {key}") == f"no {key}"

    def test_the_rest_is_no_markup(self):
        assert lines.whole("<b> & <i>2010-03</i>") == (
            '&lt;b&gt; &amp; <span class="whole">&lt;i&gt;2010-03&lt;/i&gt;</span>'
        )


class TestParted:
    def parts(self, name: str) -> list[str]:
        return [re.sub("<[^>]+>", "", part) for part in lines.parted(name).split("<wbr>")]

    def test_names_break_between_their_parts(self):
        assert self.parts("sf|[2010-03-14...2010-03-20]") == ["sf|[2010-03-14...", "2010-03-20]"]
        assert self.parts("/srv/files/load.py") == ["/srv/", "files/", "load.py"]
        assert self.parts("scheduling.examples.machine_load") == ["scheduling.", "examples.", "machine_load"]
        run = "manual__2026-11-30T15:46:34.381512+00:00__481e3ee9"
        assert self.parts(run) == ["manual__", "2026-11-30T15:46:34.381512", "+00:00__", "481e3ee9"]

    def test_the_rest_is_no_markup(self):
        assert lines.parted("<b>&2010-03") == '<span class="whole">&lt;b&gt;&amp;2010-03</span>'
