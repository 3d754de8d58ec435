"""The form on which a Dag's schedule is changed, as a browser sends it."""

import html
import re

from partitions_site.web import specforms

URL = "/listening?dag=c"
NAME = "spec.default_mapper.wait_policy"


def filled(row, **changes):
    """What a browser sends of the form of `row` after somebody has changed some fields, by their paths."""
    row.refresh_from_db()
    form = dict(sent(specforms.draw(row.schedule)))
    return form | {"revision": row.revision, "reason": "Sundays", "act": "look"} | changes


def tolerant(row, **changes):
    return filled(row, **{f"{NAME}.type": "MinimumCount", f"{NAME}.n": "-1"}, **changes)


def text(answer):
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def sent(node):
    """What a browser sends of a form that nobody has touched."""
    if node.form == "part":
        yield f"{node.path}.type", node.value
    elif node.form not in ("parts", "pairs", "pair"):
        yield node.path, node.value
    for part in node.parts:
        yield from sent(part)
