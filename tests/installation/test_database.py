import pytest
from django.db import connection

from partitions_site.database import database
from partitions_site.environment import WrongSetting


class TestSqlite:
    def test_three_slashes_are_relative_and_four_absolute(self, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        assert database("sqlite:///here.db")["NAME"] == str(tmp_path / "here.db")
        assert database("sqlite:////there/x.db")["NAME"] == "/there/x.db"

    def test_a_path_may_hold_escaped_characters(self):
        assert database("sqlite:////a%20b/%3F.db")["NAME"] == "/a b/?.db"

    def test_every_transaction_takes_the_write_lock_when_it_begins(self):
        assert database("sqlite:///x.db")["OPTIONS"]["transaction_mode"] == "IMMEDIATE"

    @pytest.mark.django_db
    def test_the_options_reach_the_database(self):
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
                assert cursor.execute("PRAGMA synchronous").fetchone() == (1,)

    def test_a_file_must_be_named(self):
        with pytest.raises(WrongSetting, match="names no file"):
            database("sqlite:///")


class TestPostgresql:
    def test_takes_all_parts_of_the_url(self):
        found = database(
            "postgres://ann:se%40cret@db.example:6432/par%20tita?sslmode=require", conn_max_age=9
        )
        assert found["ENGINE"] == "partitions_site.postgresql"
        assert (found["HOST"], found["PORT"], found["NAME"]) == ("db.example", "6432", "par tita")
        assert (found["USER"], found["PASSWORD"]) == ("ann", "se@cret")
        assert found["OPTIONS"] == {"sslmode": "require", "prepare_threshold": 5}
        assert found["CONN_MAX_AGE"] == 9

    def test_leaves_out_what_the_url_leaves_out(self):
        found = database("postgresql:///partita")
        assert (found["HOST"], found["PORT"], found["USER"], found["PASSWORD"]) == ("", "", "", "")

    @pytest.mark.parametrize(("given", "times"), [("none", None), ("0", 0), ("20", 20)])
    def test_says_when_statements_are_prepared(self, given, times):
        options = database(f"postgres://db/x?prepare_threshold={given}")["OPTIONS"]
        assert options == {"prepare_threshold": times}

    @pytest.mark.parametrize(
        ("url", "sentence"),
        [
            ("postgres://db/", "names no database"),
            ("postgres://db/x?prepare_threshold=never", "neither a number nor none: never"),
            ("postgres://db:port/x", "port that is not a number"),
            ("mysql://db/x", "must start with sqlite:/// or postgres://, not 'mysql'"),
            ("partita.db", "must start with"),
        ],
    )
    def test_refuses_a_url_with_a_sentence(self, url, sentence):
        with pytest.raises(WrongSetting, match=sentence):
            database(url)
