"""`partita grants`."""

import pytest
from django.contrib.auth.models import Group, User

from core.models import JournalEntry
from partitions_site.cli import program
from partitions_site.models import Grant
from tests.engine.world import asset

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def world(db):
    asset("orders", group="sales")
    User.objects.create(username="ann")
    Group.objects.create(name="analysts")


class TestGrants:
    def test_one_is_given_once(self, partita):
        words = ("grants", "give", "operator", "sales", "--login", "ann", "--by", "bob", "--reason", "asked")
        assert partita(*words) == "operator of sales for ann\n"
        assert partita(*words) == "operator of sales for ann, as before\n"
        entry = JournalEntry.objects.get()
        assert (entry.event, entry.by, entry.via, entry.reason) == ("grant given", "bob", "cli", "asked")

    def test_are_listed_for_a_group_and_for_a_login_with_its_teams(self, partita):
        partita("grants", "give", "viewer", "sales", "--team", "analysts")
        assert partita("grants", "--login", "ann") == "There are no such grants.\n"
        User.objects.get().groups.add(Group.objects.get(name="analysts"))
        for words in (("--login", "ann"), ("--group", "sales"), ()):
            [row] = partita("grants", *words, as_json=True)
            assert (row["team"], row["user"], row["role"]) == ("analysts", None, "viewer")
        assert partita("grants", "--group", "other") == "There are no such grants.\n"

    def test_one_is_taken_back(self, partita, refused):
        pk = partita("grants", "give", "viewer", "sales", "--login", "ann", as_json=True)["id"]
        assert partita("grants", "take", str(pk)) == "viewer of sales for ann is taken back\n"
        assert not Grant.objects.exists()
        assert JournalEntry.objects.filter(event="grant taken").count() == 1
        assert f"no grant has the number {pk}" in refused("grants", "take", str(pk))

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (("sales", "--login", "eve"), "no login is called eve"),
            (("sales", "--team", "eve"), "no team is called eve; there are: admin, analysts, editor"),
            (("slaes", "--login", "ann"), "no asset is of the group 'slaes'; there are: sales"),
        ],
    )
    def test_says_what_there_is_not(self, refused, words, sentence):
        assert sentence in refused("grants", "give", "viewer", *words)

    def test_is_to_somebody(self, capsys):
        with pytest.raises(SystemExit) as wrong:
            program.main(["grants", "give", "viewer", "sales"])
        assert wrong.value.code == 2
        assert "--login --team" in capsys.readouterr().err
