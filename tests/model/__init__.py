import pytest

pytest.register_assert_rewrite("tests.model.history", "tests.model.deeds")
