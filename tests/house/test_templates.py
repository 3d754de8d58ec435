"""Each template begins with what it needs. Names that it gives itself are counted as given all over it."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.template import Engine, engines
from django.template.base import Template, Variable
from django.template.defaulttags import ForNode, WithNode
from django.template.loader_tags import ExtendsNode, IncludeNode

HOME = Path(__file__).parents[2] / "templates"
NAMES = sorted(str(path.relative_to(HOME)) for path in HOME.rglob("*.html"))
EVERYWHERE = {
    *("True", "False", "None", "forloop", "block"),
    *("request", "user", "perms", "messages", "csrf_token", "csp_nonce"),
}
OF_THE_SITE = {"theme", "time_zone", "now", "sees_all", "health"}
"""What `answer` gives to every page and part."""


def engine() -> Engine:
    return engines["django"].engine


def needs(name: str) -> set[str]:
    """The names that the first line of a template tells."""
    return set(re.findall(r"[a-z_]+", (HOME / name).read_text().partition("#}")[0]))


def looks_at(template: Template) -> set[str]:
    """The names that a template looks at and does not give itself."""
    things = [each for node in template.nodelist for each in walk(node)]
    names = {str(each.lookups[0]) for each in things if isinstance(each, Variable) and each.lookups}
    return names - {given for each in things for given in gives(each)} - EVERYWHERE


def walk(thing: Any) -> Iterator[Any]:
    """A node and all that it is made of; not the page that it extends."""
    yield thing
    if isinstance(thing, dict):
        inside = list(thing.values())
    elif isinstance(thing, list | tuple):
        inside = list(thing)
    elif type(thing).__module__.startswith("django.template"):
        passed_over = {"origin", "token", "parent_name" if isinstance(thing, ExtendsNode) else ""}
        names = {*getattr(thing, "__dict__", ()), *getattr(thing, "__slots__", ())} - passed_over
        inside = [getattr(thing, name) for name in sorted(names)]
    else:
        inside = []
    for each in inside:
        yield from walk(each)


def gives(node: Any) -> list[str]:
    if isinstance(node, ForNode):
        return list(node.loopvars)
    if isinstance(node, WithNode | IncludeNode):
        return list(node.extra_context)
    named = getattr(node, "target_var", None) or getattr(node, "asvar", None)
    return [named] if isinstance(named, str) else []


@pytest.mark.parametrize("name", NAMES)
def test_tells_all_that_it_looks_at(name):
    assert not looks_at(engine().get_template(name)) - needs(name) - OF_THE_SITE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{ a.b|default:c }} {{ request.path }}", {"a", "c"}),
        ("{% if a and not b %}{% elif c == None %}{% endif %}", {"a", "b", "c"}),
        ("{% for a, b in c %}{{ a }}{{ b }}{{ forloop.counter }}{% empty %}{{ d }}{% endfor %}", {"c", "d"}),
        ("{% with a=b.c %}{{ a }}{% endwith %}", {"b"}),
        ('{% include "parts/bar.html" with bar=a.b %}', {"a"}),
        ('{% url "dag" a as b %}{{ b }}', {"a"}),
        ('{% load screens %}{% when a.b "never" %}', {"a"}),
        ('{% extends "base.html" %}{% block main %}{{ a }}{% endblock %}', {"a"}),
    ],
)
def test_what_is_looked_at(text, expected):
    assert looks_at(engine().from_string(text)) == expected
