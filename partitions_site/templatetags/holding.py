"""A row of the list of held runs.

A tag, as there are forty on a page: as part of a template each takes several times longer.
"""

from collections.abc import Collection, Iterator
from datetime import datetime

from django import template
from django.utils.safestring import SafeString

from partitions_site.templatetags.markup import address, joined, markup
from partitions_site.templatetags.owing import owed
from partitions_site.templatetags.screens import ago
from partitions_site.templatetags.verdicts import progress, verdict_state
from partitions_site.web.holds import Row

register = template.Library()

ROW = """\
<tr id="held-{pk}"{current}>
<td class="pick"><input type="checkbox" name="sel" value="{pk}" form="selected" \
aria-label="Select {dag} {key}"{checked}></td>
<td data-label="Dag"><span><a href="{dag_page}">{dag}</a>{tags}</span></td>
<td data-label="Partition"><a class="key" href="{page}" data-beside="{beside}">{key}</a></td>
<td data-label="Progress">{progress}</td>
<td>{verdict}{owed}</td>
<td data-label="Since" class="tight">{since}</td>
</tr>
"""


@register.simple_tag
def held_row(each: Row, now: datetime, chosen_pk: int, selected: Collection[int], bare: str) -> SafeString:
    """:param selected: primary keys of those that are ticked.
    :param bare: the query of the list as `querystring` gives it, with none of them beside it.
    """
    row, dag_id, narrowed = each.row, each.row.dag.dag_id, bare.removeprefix("?")
    page = address("held_run", row.pk)
    return markup(
        ROW,
        pk=row.pk,
        current=SafeString(' aria-current="true"') if row.pk == chosen_pk else "",
        checked=" checked" if row.pk in selected else "",
        dag=dag_id,
        key=row.partition_key or "no key",
        dag_page=address("dag", dag_id),
        tags=joined("", _tags(each)),
        page=page,
        beside=f"?{narrowed}{'&' if narrowed else ''}run={row.pk}",
        progress=progress(each.verdict, page),
        verdict=verdict_state(each.verdict),
        owed=joined("", _owed(each, now, page)),
        since=ago(row.opened_at, now),
    )


def _tags(each: Row) -> Iterator[SafeString]:
    if each.row.round > 1:
        yield markup(' <span class="tag">round {}</span>', each.row.round)
    if each.is_late:
        yield SafeString(' <span class="tag late">late</span>')


def _owed(each: Row, now: datetime, page: str) -> Iterator[SafeString]:
    for first in each.first:
        others = markup(' · <a href="{}">all such keys</a>', page) if first.is_unmade else ""
        yield markup('<p class="owed">{}{}</p>', owed(first, now, with_key=True), others)
    for coming in each.coming:
        yield markup('<p class="owed">Next by itself: {}</p>', owed(coming, now, with_key=True))
