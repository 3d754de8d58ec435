"""JSON as the text that lists are narrowed and ordered by: it tells nothing of what answers mask.

A text that is masked could be guessed letter by letter, by what it is found by and what it stands behind.
"""

from functools import reduce
from operator import or_

from django.db.models import Case, Q, TextField, Value, When
from django.db.models.functions import Cast

from partitions_site.api.lookups import Like
from scheduling.masking import SECRETS


def as_shown(column: str) -> Case:
    """The JSON of `column` as text; none of it where it may name a secret."""
    text = Cast(column, TextField())
    names_secret = reduce(or_, (Q(Like(text, Value(f"%{word}%"))) for word in SECRETS))
    return Case(When(names_secret, then=Value("")), default=text, output_field=TextField())
