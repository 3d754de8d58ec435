"""No admin saves a record around the engine."""

import ast
from pathlib import Path

import pytest
from django.contrib import admin as site

from partitions_site import admin, records_admin

pytestmark = pytest.mark.django_db

FACES = (admin, records_admin)
OURS = [model for model in site.site._registry if model._meta.app_label == "core"]


class TestNothingIsSavedAroundTheEngine:
    """Django's own `save_model` writes a row, and nobody hears of it."""

    @pytest.mark.parametrize("model", OURS, ids=lambda each: each._meta.model_name)
    @pytest.mark.parametrize("name", ["save_model", "delete_model", "delete_queryset"])
    def test_each_admin_of_a_record_has_its_own_way_to_write(self, model, name):
        way = getattr(type(site.site._registry[model]), name)
        assert way is not getattr(site.ModelAdmin, name)
        assert way.__module__ in [face.__name__ for face in FACES]

    def test_none_of_them_calls_save_or_delete(self):
        calls = [
            ast.unparse(node.func)
            for face in FACES
            for node in ast.walk(ast.parse(Path(face.__file__).read_text()))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
        ]
        written = [
            each for each in calls if each.rpartition(".")[2] in ("save", "delete", "create", "update")
        ]
        assert written == ["pools.delete"]
        assert not [each for each in calls if each.startswith("super().") and "model" in each.split(".")[1]]

    def test_none_of_them_edits_beside_another(self):
        for model, shown in site.site._registry.items():
            if model._meta.app_label == "core":
                assert (shown.inlines, tuple(shown.list_editable)) == ((), ())
