"""Fields as they stand in requests and answers, with refusals in the words of Airflow's API."""

import json
from collections.abc import Mapping
from datetime import UTC
from math import isfinite
from typing import Any, NoReturn

from django.conf import settings
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from scheduling import keeping
from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.keys import MAX_KEY_LENGTH, validate_key


class _Worded:
    """A field whose refusals carry Airflow's name for them (`kind`) beside the sentence."""

    kinds: Mapping[str, str] = {}

    def fail(self, key: str, **values: Any) -> NoReturn:
        words: Mapping[str, str] = self.error_messages  # type: ignore[attr-defined]
        message = words[key].format(**values)
        raise serializers.ValidationError(message, code=self.kinds.get(key, key))


class Text(_Worded, serializers.CharField):
    """A string, kept byte for byte; numbers are not strings."""

    kinds = {"invalid": "string_type", "null": "string_type"}
    default_error_messages = {
        "required": "Field required",
        "invalid": "Input should be a valid string",
        "null": "Input should be a valid string",
        "max_length": "String should have at most {max_length} characters",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"trim_whitespace": False, "allow_blank": True} | options))

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return data


class PartitionKey(Text):
    """A key that can be one: what it means to an asset or a Dag is for the engine to say."""

    kinds = Text.kinds | {"blank": "string_pattern_mismatch", "key": "partition_key"}
    default_error_messages = {"blank": "String should match pattern '\\S'", "key": "{reason}"}

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"max_length": MAX_KEY_LENGTH, "allow_blank": False} | options))

    def to_internal_value(self, data: Any) -> str:
        text = super().to_internal_value(data)
        if len(text) > MAX_KEY_LENGTH:
            return text  # told by the limit of the field, in Airflow's words
        if not text.strip():
            self.fail("blank")
        try:
            return validate_key(text)
        except InvalidKey as error:
            self.fail("key", reason=str(error))


class Whole(_Worded, serializers.IntegerField):
    """A whole number; a string of digits is one."""

    kinds = {"invalid": "int_parsing", "null": "int_type", "max_string_length": "int_parsing_size"}
    default_error_messages = {
        "required": "Field required",
        "invalid": "Input should be a valid integer, unable to parse string as an integer",
        "null": "Input should be a valid integer",
        "min_value": "Input should be greater than or equal to {min_value}",
        "max_value": "Input should be less than or equal to {max_value}",
    }


class RowId(Whole):
    """The number of a row: one that a database can hold."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**({"min_value": -(2**63), "max_value": 2**63 - 1} | options))


class Decimal(_Worded, serializers.FloatField):
    """A number; `nan` and `inf`, which Python reads as numbers, are none."""

    kinds = {"invalid": "float_parsing", "null": "float_type"}
    default_error_messages = {
        "required": "Field required",
        "invalid": "Input should be a valid number, unable to parse string as a number",
    }

    def to_internal_value(self, data: Any) -> float:
        number = float(super().to_internal_value(data))
        if not isfinite(number):
            self.fail("invalid")
        return number


class Flag(_Worded, serializers.BooleanField):
    kinds = {"invalid": "bool_parsing", "null": "bool_type"}
    default_error_messages = {
        "required": "Field required",
        "invalid": "Input should be a valid boolean, unable to interpret input",
        "null": "Input should be a valid boolean",
    }


class Instant(_Worded, serializers.DateTimeField):
    """An instant: read with any offset (none means UTC, a bare date its midnight), written with a `Z`."""

    kinds = dict.fromkeys(("invalid", "date", "make_aware", "overflow", "null"), "datetime_from_date_parsing")
    default_error_messages = {
        "required": "Field required",
        "invalid": "Input should be a valid datetime or date",
        "date": "Input should be a valid datetime or date",
        "null": "Input should be a valid datetime",
    }

    def __init__(self, **options: Any) -> None:
        super().__init__(default_timezone=UTC, **options)


class OneOf(_Worded, serializers.ChoiceField):
    kinds = {"invalid_choice": "enum"}
    default_error_messages = {"required": "Field required", "invalid_choice": "Input should be {expected}"}

    def fail(self, key: str, **values: Any) -> NoReturn:
        words = [repr(choice) for choice in self.choices]
        expected = " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
        super().fail(key, expected=expected, **values)


@extend_schema_field({"type": "object", "additionalProperties": True})
class JsonObject(_Worded, serializers.JSONField):
    """An object of anything. Null is not one."""

    kinds = {"invalid": "dict_type", "null": "dict_type"}
    default_error_messages = {
        "required": "Field required",
        "invalid": "Input should be a valid dictionary",
        "null": "Input should be a valid dictionary",
    }

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            self.fail("invalid")
        return super().to_internal_value(data)


class Extra(JsonObject):
    """An object that describes something, and that is kept: no longer and no deeper than it needs to be."""

    kinds = {**JsonObject.kinds, "bytes": "too_long", "levels": "too_deep"}
    default_error_messages = {
        "bytes": "Input should have at most {most} bytes as JSON, not {found}",
        "levels": "Input should be nested at most {most} levels deep",
    }

    def to_internal_value(self, data: Any) -> Any:
        value = super().to_internal_value(data)
        found, most = len(json.dumps(value, ensure_ascii=False).encode()), settings.EXTRA_LIMIT
        if found > most:
            self.fail("bytes", most=most, found=found)
        if not keeping.is_within(value):
            self.fail("levels", most=keeping.LEVELS)
        return value


class Always(serializers.Field[Any, Any, Any, Any]):
    """A field that Airflow's clients expect and that has one answer here."""

    def __init__(self, value: Any) -> None:
        super().__init__(source="*", read_only=True)
        self.value = value

    def to_representation(self, value: Any) -> Any:
        return self.value


class AlwaysInSchema(OpenApiSerializerFieldExtension):
    target_class = Always

    def map_serializer_field(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        return JSON_TYPES[type(self.target.value)]


JSON_TYPES: dict[type, dict[str, Any]] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    str: {"type": "string"},
    list: {"type": "array", "items": {}},
    dict: {"type": "object"},
    type(None): {"type": "null"},
}
