import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User

from partitions_site.login import ensure_login

pytestmark = pytest.mark.django_db


class TestEnsureLogin:
    def test_the_first_login_is_admin_with_a_password_that_works(self):
        login = ensure_login()
        assert login.name == "admin"
        assert authenticate(username="admin", password=login.password).is_superuser

    def test_no_two_installations_get_the_same_password(self):
        first = ensure_login()
        User.objects.all().delete()
        assert ensure_login().password != first.password

    def test_a_second_start_changes_nothing_and_shows_no_password(self):
        first = ensure_login()
        assert ensure_login().password.startswith("(as before; ./partita changepassword admin")
        assert authenticate(username="admin", password=first.password)
        assert User.objects.count() == 1

    def test_a_given_login_is_created(self):
        login = ensure_login(("ann", "correct horse"))
        assert login.name == "ann"
        assert "correct horse" not in login.password
        assert authenticate(username="ann", password="correct horse").is_superuser

    def test_a_given_login_that_exists_keeps_its_password(self):
        ensure_login(("ann", "correct horse"))
        assert "as before" in ensure_login(("ann", "another")).password
        assert authenticate(username="ann", password="another") is None
        assert authenticate(username="ann", password="correct horse")

    def test_no_admin_appears_beside_an_owner_who_can_enter(self):
        ensure_login(("ann", "correct horse"))
        assert ensure_login().name == "ann"
        assert User.objects.count() == 1

    def test_an_owner_who_is_locked_out_does_not_count(self):
        User.objects.create_superuser("gone", is_active=False)
        assert ensure_login().name == "admin"
