"""Reads settings from environment variables and remembers what each is for."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

T = TypeVar("T")

TRUE = ("1", "true", "yes", "on")
FALSE = ("0", "false", "no", "off", "")


class WrongSetting(ImproperlyConfigured):
    """A variable that cannot be read. The message names it and says what it should hold."""


@dataclass(frozen=True, slots=True)
class Knob:
    """One setting: the variable that turns it, its default as text, and what it does."""

    name: str
    default: str
    purpose: str


class Environment:
    """The variables of one installation. An empty variable counts as not set."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.knobs: list[Knob] = []
        self._variables = variables

    def text(self, name: str, default: str, purpose: str) -> str:
        return self._read(Knob(name, default, purpose), str, "a text")

    def number(self, name: str, default: int, purpose: str) -> int:
        return self._read(Knob(name, str(default), purpose), _count, "a whole number, 0 or more")

    def seconds(self, name: str, default: float, purpose: str) -> float:
        return self._read(Knob(name, f"{default:g}", purpose), _seconds, "a number of seconds, 0 or more")

    def flag(self, name: str, default: bool, purpose: str) -> bool:
        return self._read(Knob(name, "yes" if default else "no", purpose), _flag, "yes or no")

    def items(self, name: str, default: str, purpose: str) -> list[str]:
        return self._read(Knob(name, default, purpose), _items, "items separated by commas")

    def networks(self, name: str, default: str, purpose: str) -> list[str]:
        return self._read(
            Knob(name, default, purpose),
            _networks,
            "networks such as 10.0.0.0/8, separated by commas, or any",
        )

    def address(self, name: str, purpose: str) -> str:
        return self._read(Knob(name, "", purpose), _address, "an http(s) address without a password in it")

    def pairs(self, name: str, purpose: str) -> dict[str, str]:
        return self._read(Knob(name, "", purpose), _pairs, "pairs such as there=here, separated by commas")

    def path(self, name: str, default: Path, shown: str, purpose: str) -> Path:
        """A path; `shown` stands for the default in the documentation."""
        self.knobs.append(Knob(name, shown, purpose))
        return Path(self._variables.get(name) or default).expanduser().absolute()

    def _read(self, knob: Knob, convert: Callable[[str], T], form: str) -> T:
        self.knobs.append(knob)
        written = self._variables.get(knob.name) or knob.default
        try:
            return convert(written)
        except ValueError as error:
            raise WrongSetting(f"{knob.name} must be {form}, not {written!r}") from error


def markdown_table(knobs: Sequence[Knob]) -> str:
    """The settings as documentation shows them, in the order in which they are read."""
    rows = [
        f"| `{knob.name}` | {f'`{knob.default}`' if knob.default else ''} | {knob.purpose} |"
        for knob in knobs
    ]
    return "\n".join(["| variable | default | what it does |", "|---|---|---|", *rows])


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError(text)
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 <= number < float("inf"):
        raise ValueError(text)
    return number


def _flag(text: str) -> bool:
    if text.lower() not in TRUE + FALSE:
        raise ValueError(text)
    return text.lower() in TRUE


def _networks(text: str) -> list[str]:
    every = ["0.0.0.0/0", "::/0"]
    written = [network for item in _items(text) for network in (every if item == "any" else [item])]
    return [str(ip_network(network)) for network in written]


def _address(text: str) -> str:
    parts = urlsplit(text)
    parts.port  # noqa: B018 - raises for one that is no number
    wrong = parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password
    if text and (wrong or not (text.isascii() and text.isprintable()) or " " in text):
        raise ValueError(text)
    return text


def _pairs(text: str) -> dict[str, str]:
    found = [item.partition("=") for item in _items(text)]
    if not all(first.strip() and second.strip() for first, _, second in found):
        raise ValueError(text)
    return {first.strip(): second.strip() for first, _, second in found}


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
