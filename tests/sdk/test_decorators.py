"""What decorators make of functions: tasks with what they write and read, and assets."""

import pytest

from scheduling.algebra.errors import InvalidDefinition
from scheduling.sdk import Asset, asset, task


@task
def read():
    return [1, 2]


class TestDecorators:
    def test_keep_what_a_task_writes_and_reads(self):
        sales, stock = Asset("sales"), Asset.ref(name="stock")

        @task(task_id="summary", outlets=[sales, sales], inlets=[stock])
        def summarize():
            pass

        assert (summarize.task_id, summarize.outlets, summarize.inlets) == ("summary", (sales,), (stock,))

    def test_take_one_asset_for_a_list_of_one(self):
        assert task(outlets=Asset("sales"))(read.function).outlets == (Asset("sales"),)

    @pytest.mark.parametrize("outlet", ["sales", Asset.ref(name="sales")])
    def test_refuse_an_outlet_that_is_no_asset(self, outlet):
        with pytest.raises(InvalidDefinition, match="an outlet is an Asset"):
            task(outlets=[outlet])(read.function)

    def test_refuse_an_inlet_that_is_no_asset(self):
        with pytest.raises(InvalidDefinition, match="an inlet is an Asset"):
            task(inlets=["sales"])(read.function)


class TestAssetFunctions:
    def test_are_assets(self):
        @asset(uri="s3://sales", group="shop", extra={"owner": "ann"}, schedule=None)
        def sales(self):
            """Sales of a day.

            At length.
            """

        assert sales == Asset("sales")
        assert (sales.uri, sales.group, dict(sales.extra)) == ("s3://sales", "shop", {"owner": "ann"})
        assert sales.function.__name__ == "sales"

    def test_may_have_names_of_their_own(self):
        @asset(name="daily sales", dag_id="sum up")
        def sales():
            pass

        assert sales.name == "daily sales"

    def test_refuse_parameters_that_no_run_fills_in(self):
        with pytest.raises(InvalidDefinition, match=r"sales\(\) lacks outlet_event, which"):

            @asset(schedule=None)
            def sales(self, outlet_event):
                pass

    def test_refuse_options_that_a_dag_does_not_have(self):
        with pytest.raises(TypeError, match="retrys"):

            @asset(schedule=None, retrys=3)
            def sales(self):
                pass
