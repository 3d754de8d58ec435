"""A small OpenID Connect provider: discovery, keys, codes with PKCE, and ID tokens that it really signs."""

import base64
import hashlib
import hmac
import json
import secrets
import threading
import time
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

CLIENT, SECRET = "partita", "s3cret-of-the-site"


class Provider:
    """Signs in whoever `claims` says; `faults` are claims of the token that it gets wrong."""

    def __init__(self) -> None:
        self.key = _key()
        self.signs_with: Any = self.key
        self.algorithm = "RS256"
        self.claims: dict[str, Any] = {"sub": "u-1", "preferred_username": "ann"}
        self.faults: dict[str, Any] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._answers())
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def authorize(self, address: str) -> str:
        """What a browser does at the provider: somebody signs in, and is sent back to this address."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        assert asked["client_id"] == CLIENT
        assert asked["response_type"] == "code"
        assert asked["code_challenge_method"] == "S256"
        code = secrets.token_urlsafe()
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def token(self, given: dict[str, str], client: str) -> dict[str, Any] | None:
        """The answer to a code, once, for whoever asked for it and knows the verifier."""
        asked = self.codes.pop(given.get("code", ""), None)
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = _written(digest)
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if asked is None or client != f"Basic {basic}" or challenge != asked["code_challenge"]:
            return None
        if given["redirect_uri"] != asked["redirect_uri"]:
            return None
        now = int(time.time())
        usual = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 60, "nonce": asked["nonce"]}
        claims = {name: value for name, value in {**usual, **self.claims, **self.faults}.items() if value}
        if self.algorithm == "RS256":
            signed = jwt.encode({"alg": "RS256", "kid": "1"}, claims, self.signs_with)
        else:
            signed = self._forged(claims)
        return {"access_token": "a", "token_type": "Bearer", "expires_in": 60, "id_token": signed}

    def _forged(self, claims: dict[str, Any]) -> str:
        """What anybody could make: without a signature, or signed with the public key as a shared secret."""
        head = {"alg": self.algorithm, "kid": "1"}
        text = ".".join(_written(json.dumps(part).encode()) for part in (head, claims))
        secret = self.key.as_pem(private=False)
        mac = hmac.new(secret, text.encode(), "sha256").digest() if self.algorithm == "HS256" else b""
        return f"{text}.{_written(mac)}"

    def _answers(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Answers(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.say(
                    {
                        "/.well-known/openid-configuration": {
                            "issuer": provider.issuer,
                            "authorization_endpoint": f"{provider.issuer}/authorize",
                            "token_endpoint": f"{provider.issuer}/token",
                            "jwks_uri": f"{provider.issuer}/keys",
                            "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
                        },
                        "/keys": {"keys": [provider.key.as_dict(private=False)]},
                    }.get(self.path)
                )

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                given = {name: values[0] for name, values in parse_qs(body).items()}
                told = provider.token(given, self.headers.get("Authorization", ""))
                self.say(told or {"error": "invalid_grant"}, 200 if told else 400)

            def say(self, body: Any, status: int = 200) -> None:
                text = json.dumps(body).encode()
                self.send_response(status if body else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_: object) -> None:
                pass

        return Answers


@cache
def _key() -> RSAKey:
    """One for all providers: to find the primes takes longer than a test."""
    return RSAKey.generate_key(2048, {"kid": "1", "use": "sig", "alg": "RS256"})


def _written(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")
