"""An Airflow on this machine, which events can be posted to in turns with us: `intake --airflow`."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from tests.benchmarks.clients import Receiver

ASSET = "sales"
HERE = ("127.0.0.1", "localhost")


def receiver(url: str) -> Receiver:
    """Log in with the name and password in `url`, and find the asset that a Dag listens to.

    :raises OSError: if nobody answers there, or the login is refused.
    :raises ValueError: if it is not on this machine, or has no such asset.
    """
    parts = urlsplit(url)
    if parts.hostname not in HERE or not parts.port:
        raise ValueError("it has to be on this machine, as in http://admin:PASSWORD@127.0.0.1:8080")
    base = f"http://{parts.hostname}:{parts.port}"
    login = {"username": unquote(parts.username or ""), "password": unquote(parts.password or "")}
    headers = {"Content-Type": "application/json"}
    token = _answer(Request(f"{base}/auth/token", json.dumps(login).encode(), headers))["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    assets = _answer(Request(f"{base}/api/v2/assets?name_pattern={ASSET}", headers=headers))["assets"]
    for asset in assets:
        if asset["name"] == ASSET and len(asset["scheduled_dags"]) == 1:
            return Receiver([parts.port], token, asset["id"])
    raise ValueError(f"it has no asset {ASSET} that one Dag listens to")


def _answer(request: Request) -> Any:
    with urlopen(request, timeout=60) as answer:
        return json.load(answer)
