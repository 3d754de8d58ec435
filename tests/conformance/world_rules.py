"""Differences in what ticks, and in how events of a small world are counted."""

from tests.conformance import cron_grounds, grounds, world_grounds
from tests.conformance.rule import Rule

WORLD_RULES = (
    Rule(
        "one date for each key",
        "Every tick brings its own partition date, also where a coarse format gives many ticks one key; the "
        "same key triggered by hand has yet another.",
        "The partition date is the start of the period that the key names, however the run came about.",
        "One partition is one period.",
        cron_grounds.date_of_the_key,
    ),
    Rule(
        "ticks where clocks change",
        "A fixed time that clocks skip is moved by the gap, one that they repeat happens the second time, "
        "and half-hour changes bring ticks off the grid of the cron.",
        "A skipped time happens at the first instant after the gap, a repeated one the first time (or as "
        "`gap` and `fold` say), and an interval ticks in every real hour.",
        "It is what cron itself does.",
        cron_grounds.clocks_change,
    ),
    Rule(
        "crons are read when defined",
        "A cron expression is first read when the Dag is loaded, and `0 0 30 2 *` passes even then.",
        "Refused when defined, in words.",
        "Known before the first tick that never comes.",
        grounds.cron_refused,
    ),
    Rule(
        "dates come from keys",
        "An event carries a partition date, which its runs adopt; of two that differ neither, until a third.",
        "The partition date is the start of the period that the key names; a key without time has none.",
        "What a key means does not depend on which event came last.",
        world_grounds.dates_of_keys,
    ),
    Rule(
        "paused Dags go on counting",
        "Events that come while a consumer is paused are lost to it.",
        "They are counted; what is complete fires when the Dag is unpaused.",
        "A pause is for looking, not for losing data.",
        world_grounds.counts_while_paused,
    ),
    Rule(
        "received keys move with a definition",
        "A change of mapper or window deletes what is held, and its keys.",
        "Open held runs are filed anew under the new definition; a run may fire at once.",
        "23 of 24 hours received stay received.",
        world_grounds.moves_with_a_definition,
    ),
    Rule(
        "assets without partitions are there",
        "An event without a key counts for no partition-aware Dag, ever.",
        "An asset that has had one and no partitions is there for every key, beside another that has keys.",
        "A table of exchange rates need not have a partition for each day.",
        world_grounds.there_without_partitions,
    ),
    Rule(
        "plain Dags hear events without a key",
        "An event with a key starts no plain Dag, but the next run of one consumes it.",
        "It is consumed by no run of a Dag that does not count it (`accept_partitioned`).",
        "What started a run and what it consumed are the same.",
        world_grounds.plain_without_keys,
    ),
    Rule(
        "run ids are free",
        "A run id may not contain a blank or two dots, nor begin like that of another kind of run; two runs "
        "triggered for one instant clash.",
        "Any run id that its Dag does not have yet.",
        "Run ids are names, nothing is read from them.",
        world_grounds.free_run_ids,
    ),
    Rule(
        "keys with offsets count",
        "Hours written with another offset than the zone's, or twice in autumn, are not expected.",
        "A key counts as the hour it names, in whatever offset; the repeated hour is expected twice.",
        "A day fires when all of it is there, and never before.",
        world_grounds.keys_with_offsets,
    ),
)
