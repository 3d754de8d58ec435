"""How a request is read: its body, as a form says, and single values of its address.

One that does not fit is answered in the words of Airflow's API: what scripts print stays as it was.
"""

from functools import cache
from typing import Any, TypeVar

from rest_framework import serializers
from rest_framework.fields import empty
from rest_framework.request import Request
from rest_framework.settings import api_settings

from partitions_site.api.errors import Invalid, problems
from partitions_site.api.fields import RowId
from scheduling.masking import masked

NON_FIELD = api_settings.NON_FIELD_ERRORS_KEY
Read = dict[str, Any]
T = TypeVar("T")


class Form(serializers.Serializer[Any]):
    """The body of a request. A field that it does not name is refused."""

    default_error_messages = dict.fromkeys(
        ("invalid", "null"), "Input should be a valid dictionary or object to extract fields from"
    )

    def run_validation(self, data: Any = empty) -> Any:
        errors: dict[str, Any] = {}
        try:
            value = super().run_validation(data)
        except serializers.ValidationError as error:
            detail = error.detail
            errors = dict(detail) if isinstance(detail, dict) else {NON_FIELD: detail}
        for name in data.keys() - self.fields.keys() if isinstance(data, dict) else ():
            errors[name] = [serializers.ErrorDetail("Extra inputs are not permitted", code="extra_forbidden")]
        if errors:
            raise serializers.ValidationError(errors)
        return value


def read_body(form: type[Form], request: Request) -> Read:
    """The body of `request` as `form` says; fields that were left out and have no default are absent.

    :raises Invalid: if it does not fit.
    """
    given = request.data
    try:
        value: Read = _empty(form).run_validation(given)
    except serializers.ValidationError:
        return read(form(data=given), ["body"])
    return value


def read(serializer: serializers.BaseSerializer[Any], loc: list[str | int]) -> Any:
    """:raises Invalid: if what `serializer` was given does not fit."""
    if not serializer.is_valid():
        given = masked(serializer.initial_data)
        raise Invalid(problems(serializer.errors, given, loc))
    return serializer.validated_data


def read_value(field: "serializers.Field[Any, Any, Any, Any]", given: str, loc: list[str | int]) -> Any:
    """One value from an address: a number in its path, or a query parameter.

    :raises Invalid: if it does not fit.
    """
    try:
        return field.run_validation(given)
    except serializers.ValidationError as error:
        raise Invalid(problems(error.detail, given, loc)) from None


def row_id(name: str, given: str) -> int:
    """The number of a row in a path.

    :raises Invalid: if it is no number.
    """
    number: int = read_value(RowId(), given, ["path", name])
    return number


@cache
def _empty(form: type[Form]) -> Form:
    """To make one for each request would be half the work of reading it."""
    return form()
