"""The squares of a grid. Written in Python: a thousand of them are too many for a template's loop."""

from typing import Any
from urllib.parse import quote

from django import template
from django.http import HttpRequest
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from scheduling.board.grids import Cell, Row

register = template.Library()


@register.simple_tag(takes_context=True)
def boxes(context: dict[str, Any], row: Row) -> SafeString:
    """The cells of one row of a table: each square leads to its partition, or into the period it shows."""
    here, chosen = _address(context["request"]), context.get("key", "")
    written = []
    for box in row.boxes:
        squares = "".join(_square(cell, here, chosen) for cell in box)
        written.append(f'<td class="two">{squares}</td>' if len(box) > 1 else f"<td>{squares}</td>")
    return mark_safe("".join(written))  # noqa: S308  every part of a square is escaped


def _square(cell: Cell, here: dict[str, str], chosen: str) -> str:
    look = f"c {cell.look.letter}" + (f" p{cell.share}" if cell.share < 3 else "")
    if cell.is_unexpected:
        look += " x"
    name, value = ("key", cell.key) if cell.key else ("zoom", cell.zoom)
    more = "" if cell.key else ' data-part="board"'
    if cell.key and cell.key == chosen:
        more = ' aria-current="true"'
    return (
        f'<a class="{look}" href="{escape(here[name] + quote(value, safe=""))}"'
        f' aria-label="{escape(cell.words)}"{more}></a>'
    )


def _address(request: HttpRequest) -> dict[str, str]:
    """This page's address up to the value of the parameter that a square changes; paging starts anew."""
    addresses = {}
    for name in ("key", "zoom"):
        query = request.GET.copy()
        for gone in (name, "row"):
            query.pop(gone, None)
        kept = query.urlencode()
        addresses[name] = f"?{kept}&{name}=" if kept else f"?{name}="
    return addresses
