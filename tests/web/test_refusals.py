"""What cannot be done says which right it takes, and who has it."""

import re
from pathlib import Path

import pytest

from partitions_site import roles
from partitions_site.refusals import RIGHTS, holders

HOME = Path(__file__).parents[2]
ASKED = re.compile(r'"(core\.(?:add|change|delete)_\w+)"')


def test_every_right_that_a_page_asks_for_has_words():
    pages = [*HOME.glob("templates/**/*.html"), *HOME.glob("partitions_site/web/*.py")]
    asked = {right for page in pages for right in ASKED.findall(page.read_text())}
    assert len(asked) > 8
    assert asked - RIGHTS.keys() == set()


@pytest.mark.parametrize(
    ("right", "expected"),
    [
        ("core.add_dagrun", ["operator", "editor", "admin"]),
        ("core.delete_partition", ["editor", "admin"]),
        ("core.change_scheduleoverride", ["admin"]),
        ("core.view_asset", ["viewer", "operator", "editor", "admin"]),
    ],
)
def test_a_right_is_held_by_the_first_role_that_has_it_and_those_after(right, expected):
    assert holders(right) == expected


@pytest.mark.django_db
@pytest.mark.parametrize("role", list(roles.GRANTS))
@pytest.mark.parametrize("right", list(RIGHTS))
def test_who_is_named_is_who_has_it(user_of, role, right):
    assert user_of(role).has_perm(right) == (role in holders(right))
