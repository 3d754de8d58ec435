"""Requests go where the operators let them, take as long as they may, and are not led astray."""

import contextlib
import socket
import ssl
import subprocess
import threading
import time
from datetime import timedelta
from ipaddress import ip_address

import pytest
from django.core.exceptions import ImproperlyConfigured

from partitions_site.environment import Environment
from scheduling import outbound
from scheduling.outbound import Forbidden, Unreachable
from tests.executors import receiver as replies
from tests.servers import free_port

SOON = timedelta(milliseconds=300)
PATIENCE = timedelta(seconds=10)


def post(url, body=b"{}", patience=PATIENCE, **headers):
    return outbound.post(url, body, headers, patience=patience)


class TestAnswer:
    def test_is_what_the_other_side_says(self, receiver):
        receiver.replies = [(418, {"tea": True})]
        answer = post(receiver.url, b"ask", **{"X-One": "1"})
        assert (answer.status, answer.text) == (418, '{"tea": true}')
        [request] = receiver.requests
        assert (request.path, request.body, request.headers["x-one"]) == ("/runs?hook=7", b"ask", "1")
        assert request.headers["host"] == receiver.url.split("/")[2]

    def test_of_a_redirection_is_the_redirection(self, receiver):
        receiver.replies = [replies.go_elsewhere]
        assert post(receiver.url).status == 302
        assert len(receiver.requests) == 1

    def test_that_is_endless_is_cut(self, receiver, monkeypatch):
        monkeypatch.setattr(outbound, "MOST_BYTES", 10)
        receiver.replies = [(200, b"x" * 100_000)]
        assert post(receiver.url).body == b"x" * 10

    def test_that_is_no_text_is_readable_all_the_same(self, receiver):
        receiver.replies = [(200, b"\xff\xfe")]
        assert post(receiver.url).text == "\ufffd\ufffd"


class TestPatience:
    @pytest.mark.parametrize("reply", [replies.hang, replies.drip, replies.drip_headers])
    def test_ends_whatever_the_other_side_does(self, receiver, reply):
        receiver.replies = [reply]
        began = time.monotonic()
        with pytest.raises(Unreachable, match=r"no answer within 0\.3 seconds"):
            post(receiver.url, patience=SOON)
        assert time.monotonic() - began < 2.5


class TestNobodyThere:
    def test_is_told_with_the_reason(self, settings):
        settings.WEBHOOK_NETWORKS = ["127.0.0.1/32"]
        with pytest.raises(Unreachable, match=r"127\.0\.0\.1:\d+ cannot be reached: .*refused"):
            post(f"http://127.0.0.1:{free_port()}/")

    def test_who_hangs_up_is_told(self, receiver):
        receiver.replies = [replies.hang_up]
        with pytest.raises(Unreachable, match="cannot be reached"):
            post(receiver.url)

    @pytest.mark.parametrize("host", ["nowhere.invalid", "a" * 70 + ".example", "..", "xn--"])
    def test_of_a_name_that_means_nothing(self, host):
        with pytest.raises(Unreachable, match="cannot be reached"):
            post(f"http://{host}/")

    def test_no_secure_server_answers_in_plain(self, receiver):
        with pytest.raises(Unreachable):
            post(receiver.url.replace("http://", "https://"))

    def test_a_certificate_that_nobody_vouches_for_is_none(self, settings, tmp_path):
        settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
        with pytest.raises(Unreachable, match="certificate verify failed"), _SecureServer(tmp_path) as port:
            post(f"https://127.0.0.1:{port}/")


class TestNetworks:
    @pytest.mark.parametrize(
        "host",
        [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f.1",
            "localhost",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:a9fe:a9fe]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[fe80::1]",
            "[fc00::1]",
            "[ff02::1]",
        ],
    )
    def test_that_are_not_public_are_closed(self, host):
        with pytest.raises(
            Forbidden, match="in a network that webhooks may not call: PARTITA_WEBHOOK_NETWORKS"
        ):
            post(f"http://{host}:9/")

    @pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34"])
    def test_that_are_public_are_open(self, address):
        assert outbound._is_open(ip_address(address))

    @pytest.mark.parametrize(
        ("networks", "address", "is_open"),
        [
            (["10.0.0.0/8"], "10.1.2.3", True),
            (["10.0.0.0/8"], "192.168.1.1", False),
            (["10.0.0.0/8"], "::ffff:10.1.2.3", True),
            (["fd00::/8"], "fd00::7", True),
            (["fd00::/8"], "10.1.2.3", False),
            (["0.0.0.0/0", "::/0"], "::1", True),
        ],
    )
    def test_may_be_opened_one_by_one(self, settings, networks, address, is_open):
        settings.WEBHOOK_NETWORKS = networks
        assert outbound._is_open(ip_address(address)) is is_open

    def test_one_closed_address_among_open_ones_is_enough(self, monkeypatch):
        """A name that means two things would be tried at the one and then at the other."""
        found = [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in ("8.8.8.8", "10.0.0.1")
        ]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
        with pytest.raises(Forbidden, match=r"two\.example is 10\.0\.0\.1"):
            post("http://two.example/")

    def test_a_name_is_looked_up_once(self, receiver, monkeypatch):
        """What it means between the look and the call, when somebody changes it, is not asked."""
        port = int(receiver.url.split(":")[2].split("/")[0])
        asked = []

        def look_up(host, *_, **__):
            asked.append(host)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        assert post(f"http://rebinding.example:{port}/").status == 200
        assert asked == ["rebinding.example"]
        assert receiver.requests[0].headers["host"] == f"rebinding.example:{port}"


class TestSetting:
    @pytest.mark.parametrize(
        ("written", "read"),
        [
            ("", []),
            ("10.0.0.0/8, fd00::/8", ["10.0.0.0/8", "fd00::/8"]),
            ("127.0.0.1", ["127.0.0.1/32"]),
            ("any", ["0.0.0.0/0", "::/0"]),
        ],
    )
    def test_is_a_list_of_networks(self, written, read):
        assert Environment({"NETS": written}).networks("NETS", "", "for tests") == read

    @pytest.mark.parametrize("written", ["10.0.0.1/8", "intranet", "10.0.0.0/33"])
    def test_is_nothing_else(self, written):
        with pytest.raises(ImproperlyConfigured, match="NETS must be networks such as"):
            Environment({"NETS": written}).networks("NETS", "", "for tests")


class _SecureServer:
    """TLS with a certificate of its own making, for one connection."""

    def __init__(self, directory):
        self.key, self.certificate = directory / "key.pem", directory / "certificate.pem"

    def __enter__(self):
        make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=127.0.0.1"]
        subprocess.run(
            [*make, "-keyout", self.key, "-out", self.certificate], check=True, capture_output=True
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        self.listening = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, args=(context,), daemon=True).start()
        return self.listening.getsockname()[1]

    def _accept(self, context):
        with contextlib.suppress(OSError):
            context.wrap_socket(self.listening.accept()[0], server_side=True)

    def __exit__(self, *_):
        self.listening.close()
