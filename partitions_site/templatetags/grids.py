"""The squares of a grid. Written in Python: a thousand of them are too many for a template's loop."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from django import template
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from partitions_site.templatetags.screens import percent, pictured, thousands
from scheduling.board import Heat, Look, PlannedKey, Tally, number
from scheduling.board.squares import Cell, Row

register = template.Library()

LONGEST_NAME = 40
"""Characters of the name of a number that each of a thousand squares repeats."""


@register.simple_tag(takes_context=True)
def boxes(context: dict[str, Any], row: Row) -> SafeString:
    """The cells of one row of a table: each square leads to its partition, or into the period it shows."""
    here, chosen, heat = _addresses(context), context.get("key", ""), context.get("heat")
    written = []
    for box in row.boxes:
        squares = "".join(_square(cell, here, chosen, heat) + _name(cell, here, row) for cell in box)
        written.append(f'<td class="two">{squares}</td>' if len(box) > 1 else f"<td>{squares}</td>")
    return mark_safe("".join(written))  # noqa: S308  every part of a square is escaped


@register.simple_tag(takes_context=True)
def total(context: dict[str, Any], row: Row) -> SafeString:
    """How many of a row have data, and of how many: a link that selects them, which shows and tells them."""
    done, count = thousands(row.done), thousands(row.tally.total)
    words = done if done == count else f"{done} of {count}"
    shown = done if done == count else format_html("<b>{}</b> of {}", done, count)
    selection = row.selection(context["shown"]["zoom"])
    if not selection or not row.tally.total:
        return format_html("{}", shown)
    address = _addresses(context)["sel"] + quote(selection, safe="")
    told = f"{words} in {row.head}: {row.tally.words}; select them"
    return format_html('<a href="{}" data-part="board" aria-label="{}">{}</a>', address, told, shown)


@register.simple_tag
def mark(tally: Tally, words: str) -> SafeString:
    """A small picture of the worst state under a head, and in words how all under it looks."""
    if not tally.total:
        return mark_safe("")
    told = escape(f"{words}: {tally.words}")
    return mark_safe(  # noqa: S308  words are escaped
        f'<i class="c {tally.worst.letter}" role="img" aria-label="{told}" title="{told}"></i>'
    )


@register.simple_tag
def squares(rows: Sequence[PlannedKey]) -> SafeString:
    """Keys of a backfill in their order, each in the picture of its state; those with a run lead to it."""
    return mark_safe(f'<div class="flow">{"".join(map(_planned, rows))}</div>')  # noqa: S308  escaped below


@register.simple_tag
def stretches(parts: Sequence[tuple[str, int]], total: int, style: str = "") -> SafeString:
    """Counts by state as stretches of one bar, which say themselves what they are."""
    drawn, at = [], 0
    for name, count in parts:
        look = f'x="{percent(at / total)}" width="{percent(count / total)}" height="100%"'
        drawn.append(f'<rect class="w-{escape(name)}" {look}/>')
        at += count
    words = escape(", ".join(f"{count} {name}" for name, count in parts) or "no keys")
    return mark_safe(  # noqa: S308  words and names are escaped
        f'<svg class="stretches {escape(style)}" role="img" aria-label="{words}">{"".join(drawn)}</svg>'
    )


def _planned(row: PlannedKey) -> str:
    name = pictured(row.state)
    look = "c k" if name == "skipped" else f"c {Look[name.upper()].letter}"
    words = f"{row.key}: {row.state}" + (f", {row.reason}" if row.reason else "")
    if row.run:
        address = reverse("run", args=[row.run])
        return f'<a class="{look}" href="{address}" aria-label="{escape(words)}"></a>'
    return f'<span class="{look}" role="img" aria-label="{escape(words)}"></span>'


def _square(cell: Cell, here: dict[str, str], chosen: str, heat: Heat | None) -> str:
    look = f"c {cell.look.letter}" + (f" p{cell.share}" if cell.share < 3 else "")
    if cell.is_unexpected:
        look += " x"
    if cell.is_late:
        look += " l"
    if cell.is_short:
        look += " w"
    if cell.is_chosen:
        look += " on"
    tint, more_words = _tinted(cell.key, heat)
    name, value = ("key", cell.key) if cell.key else ("zoom", cell.zoom)
    more = "" if cell.key else ' data-part="board"'
    if cell.key and cell.key == chosen:
        more = ' aria-current="true"'
    return (
        f'<a class="{look}{tint}" href="{escape(here[name] + quote(value, safe=""))}"'
        f' aria-label="{escape(cell.words + more_words)}"{more}></a>'
    )


def _tinted(key: str, heat: Heat | None) -> tuple[str, str]:
    """The classes and the words that a square gets from the number that was chosen."""
    if heat is None or key not in heat.values:
        return "", ""
    value, tint = heat.values[key], f" q{heat.tints[key]}"
    if value is None:
        return tint, ""
    words = f", {heat.name[:LONGEST_NAME]} {number(value)}"
    return (f"{tint} o", f"{words}, far out") if key in heat.outliers else (tint, words)


def _name(cell: Cell, here: dict[str, str], row: Row) -> str:
    """The key beside its square, where squares have names."""
    if not row.is_named:
        return ""
    address = here["key"] + quote(cell.key, safe="")
    return f'<a class="key" href="{escape(address)}" tabindex="-1">{escape(cell.key)}</a>'


def _addresses(context: Any) -> dict[str, str]:
    """The same for all rows of a grid, and written once."""
    kept = context.render_context
    if _addresses not in kept:
        kept[_addresses] = _written(context["request"])
    found: dict[str, str] = kept[_addresses]
    return found


def _written(request: HttpRequest) -> dict[str, str]:
    """This page's address up to the value of the parameter that a square or a total changes.

    Paging starts anew. What is selected is left out, since it may be long and there are many squares:
    live.js puts it back.
    """
    addresses = {}
    for name in ("key", "zoom", "sel"):
        query = request.GET.copy()
        for gone in (name, *(("row",) if name == "zoom" else ()), "sel", "only"):
            query.pop(gone, None)
        kept = query.urlencode()
        addresses[name] = f"?{kept}&{name}=" if kept else f"?{name}="
    return addresses
