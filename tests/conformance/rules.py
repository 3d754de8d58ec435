"""Where Partita answers otherwise than Airflow on purpose; `docs/differences.md` is made of this.

A rule applies by what is asked and answered, never by the number of a case, so that it holds for any file.
"""

from __future__ import annotations

from tests.conformance import grounds, mapper_grounds
from tests.conformance.rule import Rule
from tests.conformance.vectors import Answer, Vector
from tests.conformance.world_rules import WORLD_RULES


def rule_for(vector: Vector, ours: Answer) -> Rule | None:
    """The first rule that explains a difference; none if the answer is wrong."""
    return next((rule for rule in RULES if rule.applies(vector, ours)), None)


RULES = (
    Rule(
        "arguments are checked",
        'A count of `True`, `2.5` or `"3"`, a zone `None` or an empty delimiter is taken and fails '
        "later, or never.",
        "Refused when defined, naming the field and the right form.",
        "A definition that cannot work is a sentence on a page, not a held run that waits for ever.",
        grounds.odd_argument,
    ),
    Rule(
        "keys are keys everywhere",
        "Segments, allowed and fixed keys may be blank, 251 characters long or no text; a key keeps its "
        "outer blanks.",
        "What cannot be a partition key cannot stand in a definition or be triggered either.",
        "A blank target key stops Airflow's scheduler; blanks at the ends make two partitions that look "
        "the same.",
        grounds.no_such_key,
    ),
    Rule(
        "formats read back",
        "`%Y-W%V`, `%d`, `%A`, `literal` or `{x}` are taken as formats of keys; some keys then decode to "
        "the year 1900.",
        "A format that cannot be read back, or gives two periods one name, is refused when defined.",
        "Such a rollup waits for ever, or for keys of 1900.",
        grounds.lossy_format,
    ),
    Rule(
        "whatever is written can be read",
        "Keys such as `2024-W11` of `%G-W%V`, or quarters named by their first month, are written but not "
        "read.",
        "One format both reads and writes, ISO weeks included.",
        "A Dag whose own keys cannot be triggered by hand or rolled up is half a Dag.",
        grounds.reads_weeks,
    ),
    Rule(
        "one spelling of a key",
        "`2024-3-1`, full-width digits, lower-case months, a wrong week or offset are read.",
        "A key is read only as it is written.",
        "Each spelling is a partition of its own: the same day twice, and neither complete.",
        grounds.sloppy_key,
    ),
    Rule(
        "keys name starts",
        "A key that lies inside a period, such as 2024-03-13 of a week, is taken for that period or shifts "
        "its window.",
        "A downstream key is the start of its period, or no key of that mapper.",
        "Two keys of one week would be two runs of the same days.",
        grounds.inside_a_period,
    ),
    Rule(
        "years have four digits",
        "Years below 1000 are written `1-01-03`.",
        "`0001-01-03`.",
        "What is written must be read back.",
        grounds.short_year,
    ),
    Rule(
        "skipped times",
        "A time that clocks skip is moved forward by the gap: 02:30 becomes 03:30, and its hour `T03`.",
        "The hour does not exist: a mapping problem. Days and longer periods still take the key by its "
        "label.",
        "An hour that never was must not count as the next one.",
        grounds.skipped_time,
    ),
    Rule(
        "repeated times",
        "A time that clocks show twice is always the second.",
        "Without an offset it is the first; a format with `%z` tells the two apart.",
        "A timetable fires once, the first time; key and tick must agree.",
        grounds.first_of_two,
    ),
    Rule(
        "nested rollups wait",
        "A rollup inside ProductMapper or ChainMapper fires on the first key.",
        "It waits: all hours per region, or every region times every hour. Where nothing could say "
        "which keys it "
        "needs, the definition is refused.",
        "Dropping the wait without a word publishes days of one hour.",
        mapper_grounds.nested_rollup,
    ),
    Rule(
        "both manners of upstream mapper",
        "RollupMapper(StartOfHourMapper(), DayWindow()) opens 24 held rows, none of which can fire.",
        "A mapper of the members' grain means the same rollup as one of the period's; any time "
        "within a member "
        "counts as it.",
        "It is how people write it, the inventors included.",
        mapper_grounds.member_grain,
    ),
    Rule(
        "windows fit their mapper",
        "A window is laid over a mapper of any grain, such as a month over weeks, and can never be complete.",
        "A mapper that has neither the grain of the period nor of its members is refused when defined.",
        "It would wait for ever.",
        mapper_grounds.neither_grain,
    ),
    Rule(
        "windows keep their members apart",
        "An input format coarser than the members makes one key of the whole window, so the first event "
        "fires it.",
        "Refused when defined.",
        "Waiting for all of one is no waiting.",
        mapper_grounds.collapsed,
    ),
    Rule(
        "backward windows meet their keys",
        "A backward rollup expects keys that it maps to other downstream keys.",
        "to_downstream and required are each other's inverse in every direction.",
        "Otherwise no held run of it ever fires.",
        mapper_grounds.backward,
    ),
    Rule(
        "segments meet in one key",
        "Segments over a mapper that keeps them apart are accepted; each waits for all the others, for ever.",
        "Refused when defined, unless every segment arrives at the same downstream key.",
        "It would wait for ever.",
        mapper_grounds.never_whole,
    ),
    Rule(
        "only keys that come about",
        "A segment rollup answers for any downstream key, also one that it never makes.",
        "Asked about a key that it never makes, it says so.",
        "A held run for such a key would be nobody's.",
        mapper_grounds.other_segment_key,
    ),
    Rule(
        "policies within reach",
        "MinimumCount(30) on a week is accepted and logged once as unreachable.",
        "A count that no period ever has is refused when defined; one that some lack is warned about, with "
        "the day.",
        "It would wait for ever.",
        mapper_grounds.unreachable,
    ),
    Rule(
        "real hours of a local day",
        "Windows count clock faces: 24 steps, of which some collapse or fall into the next day.",
        "The members of a period are those that really exist: 23, 24 or 25 hours, none skipped, none "
        "missing.",
        "A day fires when all of it is there, and never before.",
        grounds.real_members,
    ),
    Rule(
        "links are checked",
        "A chain whose next part cannot read the one before fails on every key.",
        "Refused when defined, with the key it could not read.",
        "Known before the first event rather than after.",
        mapper_grounds.unread_link,
    ),
    Rule(
        "fan-outs fit their window",
        "A fan-out of strings over a window of time, or of segments through a mapper of times, fails on "
        "every key.",
        "Refused when defined.",
        "Known before the first event rather than after.",
        mapper_grounds.fan_out_types,
    ),
    Rule(
        "fan-outs write whole keys",
        "The downstream mapper of a fan-out is used as a format only: weeks need not start on "
        "Monday, zones and "
        "fixed keys are ignored.",
        "Each member goes through the whole downstream mapper.",
        "A definition means what it says.",
        mapper_grounds.fan_out_writes,
    ),
    Rule(
        "fan-outs keep their zone",
        "The members of a New York day have partition dates in UTC.",
        "They have those of the zone of the upstream mapper.",
        "Otherwise the date of a run is hours beside its data.",
        mapper_grounds.fan_out_zone,
    ),
    Rule(
        "each key once",
        "A fan-out or chain may name one downstream key several times, and counts it each time.",
        "Each downstream key once, in order.",
        "Caps and counts are of keys.",
        mapper_grounds.counted_once,
    ),
    Rule(
        "products of fan-outs",
        "A fan-out inside ProductMapper fails on every key.",
        "Every combination of segments.",
        "`us|2026-W11` may well mean seven days of one region.",
        mapper_grounds.fan_out_in_product,
    ),
    Rule(
        "segments are escaped",
        "A delimiter inside a segment makes another segment.",
        "It is written with a backslash and read back.",
        "(`a|b`, `c`) and (`a`, `b|c`) are different keys.",
        mapper_grounds.escaped,
    ),
    Rule(
        "mappers by URI",
        "A mapper configured for an asset referred to by URI is never used.",
        "It is used, however the asset is looked up.",
        "The configuration means what it says.",
        grounds.uri_mapper,
    ),
    Rule(
        "offsets in sub-day keys",
        "The default key of an hourly cron in a zone with daylight saving repeats in the autumn night.",
        "Its default format ends in `%z` there.",
        "Two hours must not share one partition.",
        grounds.offset_in_default,
    ),
    *WORLD_RULES,
    Rule(
        "ends of the calendar",
        "Keys at the very ends of the years 1 and 9999 are mapped where arithmetic happens to allow it.",
        "Where a zone would lead beyond the calendar the key is refused.",
        "No instant can be named there.",
        grounds.calendar_ends,
    ),
    Rule(
        "one family of errors",
        "Keys that cannot be mapped raise whatever happens inside: KeyError, OverflowError, AttributeError.",
        "CannotMap or InvalidKey, both ValueErrors, with a sentence.",
        "One broken key is shown where it happened and holds up nothing else.",
        grounds.other_error,
    ),
)
