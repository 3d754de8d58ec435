"""An installation behind a proxy that ends TLS: nothing is left for Django to complain of."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
PRODUCTION = {
    "PARTITA_HTTPS": "yes",
    "PARTITA_ALLOWED_HOSTS": "partita.example",
    "PARTITA_TRUSTED_ORIGINS": "https://partita.example",
    "PARTITA_SECRET_KEY": "",
}


def check(directory, **variables):
    return subprocess.run(
        [sys.executable, str(HOME / "manage.py"), "check", "--deploy", "--fail-level", "WARNING"],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PARTITA_DATA_DIR": str(directory),
            "DATABASE_URL": "",
            "REDIS_URL": "",
            **variables,
        },
    )


class TestDeploy:
    def test_with_https_all_is_well(self, tmp_path):
        ran = check(tmp_path, **PRODUCTION)
        assert ran.returncode == 0, ran.stderr

    def test_without_it_is_said(self, tmp_path):
        ran = check(tmp_path, **PRODUCTION | {"PARTITA_HTTPS": "no"})
        assert ran.returncode == 1
        assert "SESSION_COOKIE_SECURE" in ran.stderr


class TestHttps:
    @pytest.fixture(autouse=True)
    def https(self, settings, db):
        settings.SECURE_SSL_REDIRECT = True
        settings.SECURE_HSTS_SECONDS = 3600
        settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

    def test_whoever_comes_without_is_sent_to_it(self, client):
        answer = client.get("/held")
        assert (answer.status_code, answer["Location"]) == (301, "https://testserver/held")

    def test_probes_from_inside_are_answered(self, client):
        assert client.get("/livez").status_code == 200

    def test_browsers_are_told_to_stay_with_it(self, client):
        answer = client.get("/livez", HTTP_X_FORWARDED_PROTO="https")
        assert answer.headers["Strict-Transport-Security"] == "max-age=3600"
