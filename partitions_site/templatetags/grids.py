"""The squares of a grid. Written in Python: a thousand of them are too many for a template's loop."""

from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from django import template
from django.http import QueryDict
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from partitions_site.templatetags.screens import percent, picture, thousands
from scheduling.board import NOT_DEFINED, Heat, PlannedKey, Tally, number
from scheduling.board.squares import Cell, Grid, Head, Row

register = template.Library()

KEY, ZOOM, SEL = "\x00k", "\x00z", "\x00s"
"""In place of this page's address: no key, name or number has that character."""

LONGEST_NAME = 40
"""Characters of the name of a number that each of a thousand squares repeats."""


@register.simple_tag(takes_context=True)
def table(context: dict[str, Any], grid: Grid) -> SafeString:
    """What is in the table of a grid. Each square leads to its partition, or into the period it shows.

    The grid keeps it, without the addresses of this page, unless a number tints the squares.
    """
    heat, zoom = context.get("heat"), context["shown"]["zoom"]
    is_slice = any(each.value for each in context["shown"]["dimensions"])
    if heat is not None and heat.name:
        written = _table(grid, zoom, is_slice, heat)
    elif not (written := grid.kept.get("table", "")):
        written = grid.kept["table"] = _table(grid, zoom, is_slice, None)
    here, chosen = _written(context["asked"].query), context.get("key", "")
    if chosen:
        square = f'href="{KEY}{quote(chosen, safe="")}"'
        written = written.replace(square, f'{square} aria-current="true"', 1)
    for mark, name in ((KEY, "key"), (ZOOM, "zoom"), (SEL, "sel")):
        written = written.replace(mark, escape(here[name]))
    return mark_safe(written)  # noqa: S308  every part of it is escaped


@register.filter
def is_undefined(outside: str) -> bool:
    """Whether the words for a key that is outside its definition say that this will never have it."""
    return outside == NOT_DEFINED


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
    look = f"c {picture(row.state)}"
    words = f"{row.key}: {row.state}" + (f", {row.reason}" if row.reason else "")
    if row.run:
        address = reverse("run", args=[row.run])
        return f'<a class="{look}" href="{address}" aria-label="{escape(words)}"></a>'
    return f'<span class="{look}" role="img" aria-label="{escape(words)}"></span>'


def _table(grid: Grid, zoom: str, is_slice: bool, heat: Heat | None) -> str:
    heads = "" if grid.is_named else _heads(grid, is_slice)
    groups = []
    for group in grid.groups:
        wide = f'scope="rowgroup" colspan="{len(grid.heads) + 2}"'
        head = f'<tr class="group"><th {wide}><span>{escape(group.head)}</span></th></tr>'
        rows = "\n".join(_row(row, zoom, heat) for row in group.rows)
        groups.append(f"<tbody>{head if group.head else ''}{rows}</tbody>")
    return heads + "\n".join(groups)


def _heads(grid: Grid, is_slice: bool) -> str:
    is_part = not grid.is_whole and (grid.is_line or is_slice)
    them = "those on this page" if is_part else "them"
    heads = "".join(_head(head, grid.column(at, is_slice), them) for at, head in enumerate(grid.heads))
    return f"<thead><tr><td></td>{heads}<td></td></tr></thead>"


def _head(head: Head, selection: str, them: str) -> str:
    """A link that selects a column, if that can be written. By keys one selects it from any square."""
    shown = f"<span>{escape(head.words)}</span>{_mark(head.tally, head.words)}"
    if not selection or not head.tally.total:
        return f'<th scope="col">{shown}</th>'
    told = escape(f"{head.words}: {head.tally.words}; select {them}")
    link = f'href="{SEL}{quote(selection, safe="")}" data-part="board" tabindex="-1" aria-label="{told}"'
    return f'<th scope="col"><a {link}>{shown}</a></th>'


def _row(row: Row, zoom: str, heat: Heat | None) -> str:
    boxes = []
    for box in row.boxes:
        squares = "".join(_square(cell, heat) + (_name(cell) if row.is_named else "") for cell in box)
        boxes.append(f'<td class="two">{squares}</td>' if len(box) > 1 else f"<td>{squares}</td>")
    if row.is_named:
        return f"<tr{_around(row)}>{''.join(boxes)}</tr>"
    words = escape(row.head)
    if row.zoom and row.zoom != zoom:
        words = f'<a href="{ZOOM}{quote(row.zoom, safe="")}" data-part="board">{words}</a>'
    head = f'<th scope="row">{_mark(row.tally, row.head)}{words}</th>'
    return f'<tr{_around(row)}>{head}{"".join(boxes)}<td class="sum">{_total(row, zoom)}</td></tr>'


def _around(row: Row) -> str:
    if row.around is None:
        return " data-unwritten"
    names = zip(("before", "after"), row.around, strict=True)
    return "".join(f' data-{name}="{escape(words)}"' for name, words in names if words)


def _total(row: Row, zoom: str) -> str:
    """How many of a row have data, and of how many: a link that selects them, which shows and tells them."""
    done, count = thousands(row.done), thousands(row.tally.total)
    words = done if done == count else f"{done} of {count}"
    shown = done if done == count else f"<b>{done}</b> of {count}"
    selection = row.selection(zoom)
    if not selection or not row.tally.total:
        return shown
    told = escape(f"{words} in {row.head}: {row.tally.words}; select them")
    address = SEL + quote(selection, safe="")
    return f'<a href="{address}" data-part="board" aria-label="{told}">{shown}</a>'


def _mark(tally: Tally, words: str) -> str:
    """A small picture of the worst state under a head, and in words how all under it looks."""
    if not tally.total:
        return ""
    told = escape(f"{words}: {tally.words}")
    return f'<i class="c {tally.worst.letter}" role="img" aria-label="{told}" title="{told}"></i>'


def _square(cell: Cell, heat: Heat | None) -> str:
    look = f"c {cell.look.letter}" + (f" p{cell.share}" if cell.share < 3 else "")
    if cell.outside == NOT_DEFINED:
        look += " x"
    if cell.is_late:
        look += " l"
    if cell.is_short:
        look += " w"
    if cell.is_chosen:
        look += " on"
    tint, more_words = _tinted(cell.key, heat) if heat else ("", "")
    address = KEY + quote(cell.key, safe="") if cell.key else ZOOM + quote(cell.zoom, safe="")
    more = "" if cell.key else ' data-part="board"'
    words = escape(cell.words + more_words)
    return f'<a class="{look}{tint}" href="{address}" aria-label="{words}"{more}></a>'


def _tinted(key: str, heat: Heat) -> tuple[str, str]:
    """The classes and the words that a square gets from the number that was chosen."""
    if key not in heat.values:
        return "", ""
    value, tint = heat.values[key], f" q{heat.tints[key]}"
    if value is None:
        return tint, ""
    words = f", {heat.name[:LONGEST_NAME]} {number(value)}"
    return (f"{tint} o", f"{words}, far out") if key in heat.outliers else (tint, words)


def _name(cell: Cell) -> str:
    """The key beside its square, where squares have names."""
    return f'<a class="key" href="{KEY}{quote(cell.key, safe="")}" tabindex="-1">{escape(cell.key)}</a>'


def _written(asked: QueryDict) -> dict[str, str]:
    """This page's address up to the value of the parameter that a square or a total changes.

    Paging starts anew. What is selected is left out, since it may be long and there are many squares:
    live.js puts it back.
    """
    addresses = {}
    for name in ("key", "zoom", "sel"):
        query = asked.copy()
        for gone in (name, *(("row",) if name == "zoom" else ()), "sel", "only"):
            query.pop(gone, None)
        kept = query.urlencode()
        addresses[name] = f"?{kept}&{name}=" if kept else f"?{name}="
    return addresses
