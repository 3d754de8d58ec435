"""TC-32: what the preview says is what saving does, in whatever world and for whatever edit.

`PARTITA_PREVIEWS` asks for more stories of each kind; `PARTITA_MODEL_SHRINK=0` shows the first that fails as
it was found.
"""

import os

import pytest
from django.db import transaction
from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

from tests.chance import examples
from tests.configuration.foreseen import World, check, spec_of
from tests.configuration.stories import (
    FIXED,
    KINDS_OF_STORIES,
    SEGMENTS,
    SPREAD,
    at_least,
    rollup,
    until,
)
from tests.engine.world import IDENTITY

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# To explain a failure takes minutes here: each example is a world of its own.
PHASES = (
    (Phase.generate,) if os.environ.get("PARTITA_MODEL_SHRINK") == "0" else (Phase.generate, Phase.shrink)
)
EXAMPLES = int(os.environ.get("PARTITA_PREVIEWS", examples(15)))

TW_JP = rollup("tw", "jp")
HOUR = "2026-03-10T00:00:00"
STORIES = {
    "a round that is open now only marks": (
        {"mappers": (TW_JP, FIXED), "assets": "all", "late": "hold"},
        [("emit", "a", {"tw", "jp"}), ("emit", "b", {"tw"}), ("turn",), ("emit", "a", {"tw"}), ("turn",)],
        {"late": "mark_stale"},
    ),
    "a deadline that is new has passed": (
        {"mappers": (TW_JP, FIXED), "assets": "one"},
        [("emit", "a", {"tw"}), ("turn",), ("wait",)],
        {"mappers": (rollup("tw", "jp", **until("cancel")), FIXED)},
    ),
    "a later round is opened by the edit": (
        {"mappers": (TW_JP, FIXED), "assets": "all"},
        [
            *[("emit", "a", {"tw", "jp"}), ("emit", "b", {"tw"}), ("turn",)],
            ("edit", {"mappers": (IDENTITY, IDENTITY), "assets": "all"}),
            *[("emit", "a", {"jp"}), ("turn",)],
        ],
        {},
    ),
    "only a key over the limit is left": (
        {"mappers": (SPREAD | {"max_downstream_keys": 23}, IDENTITY), "assets": "all"},
        [
            *[("emit", "b", {HOUR}), ("turn",), ("pause",), ("emit", "a", {HOUR[:10]}), ("turn",)],
            *[("wipe", "b", HOUR), ("turn",)],
        ],
        {"settle": 60},
    ),
    "what was wiped as it was counted would be enough": (
        {"mappers": (rollup(*SEGMENTS), FIXED), "assets": "one"},
        [("emit", "a", {"tw", "jp"}), ("turn",), ("vanish", "a", "tw")],
        {"mappers": (rollup(*SEGMENTS, **at_least(-1)), FIXED)},
    ),
    "what was wiped as it was counted is not all that lacks": (
        {"mappers": (rollup(*SEGMENTS), FIXED), "assets": "one"},
        [("emit", "a", {"tw", "jp"}), ("turn",), ("vanish", "a", "jp")],
        {"mappers": (TW_JP, FIXED)},
    ),
    "one key is enough, and others are there": (
        {"mappers": (IDENTITY, IDENTITY), "assets": "any"},
        [("emit", "b", {"tw"}), ("turn",), ("pause",), ("emit", "a", {"tw"}), ("turn",)],
        {"settle": 60},
    ),
}


class TestPreview:
    @pytest.mark.parametrize("name", STORIES)
    def test_of_a_certain_story(self, name):
        schedule, deeds, edit = STORIES[name]
        play = World(schedule)
        for deed in deeds:
            play.play(deed)
        said, saved = check(play, spec_of(**schedule | edit))
        assert said.effect.held or said.effect.opens.count
        assert saved

    @pytest.mark.parametrize("kind", KINDS_OF_STORIES)
    @settings(max_examples=EXAMPLES, phases=PHASES)
    @given(data=st.data())
    def test_says_what_saving_does(self, kind, data):
        schedule, deeds, edit = data.draw(kind())
        with transaction.atomic():
            play = World(schedule)
            for deed in deeds:
                play.play(deed)
            said, saved = check(play, spec_of(**edit))
            if saved:
                late = sum(row.round > 1 for row in saved.rows.values())
                event(f"fires {min(said.effect.fires.count, 2)}, moves {min(said.effect.moves.count, 2)}")
                event(f"late {min(late, 2)}, opens {min(said.effect.opens.count, 2)}")
            transaction.set_rollback(True)
