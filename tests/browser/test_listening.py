"""An administrator loosens a wait policy: sees what will fire, saves, and it does."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.chromium import watch
from tests.installed import Installation

pytestmark = pytest.mark.browser

URL = "/listening?dag=close_tills"
DAYS = ("2026-03-08", "2026-03-09", "2026-03-10")


def runs_of(installation: Installation) -> list[str]:
    _, found = installation.request("GET", "/api/v2/dags/close_tills/dagRuns?state=success")
    return sorted(run["partition_key"] for run in found["dag_runs"])


def held_by(installation: Installation) -> int:
    return installation.request("GET", "/api/v2/heldRuns?dag_id=close_tills")[1]["total_entries"]


@pytest.fixture
def three_days(installation: Installation) -> None:
    """Of each of three days one hour is missing; the Dag listens as its file says."""
    _, told = installation.request("GET", "/api/v2/dags/close_tills/schedule")
    if told["origin"] == "override":
        back = {"schedule": None, "reason": "the next test", "revision": told["revision"]}
        assert installation.request("PUT", "/api/v2/dags/close_tills/schedule", back)[0] == 200
    _, found = installation.request("GET", "/api/v2/assets?name_pattern=till_counts")
    asset_id = found["assets"][0]["id"]
    reports = [
        {"asset_id": asset_id, "partition_key": f"{day}T{hour:02}:00:00"}
        for day in DAYS
        for hour in range(23)
    ]
    assert installation.request("POST", "/api/v2/assets/events/bulk", reports)[0] in (200, 201)


@pytest.fixture
def quiet(browser: Browser, installation: Installation, session: dict[str, object]) -> Iterator[Page]:
    """A tab in which no script runs."""
    context: BrowserContext = browser.new_context(
        base_url=installation.address(), storage_state=session, java_script_enabled=False
    )
    yield context.new_page()
    context.close()


def loosen(page: Page) -> None:
    page.wait_for_load_state()  # a form asks for its fields by a script
    page.get_by_label("Kind of wait policy").select_option("MinimumCount")
    page.get_by_label("How many (needed)").fill("-1")


class TestALooserPolicy:
    def test_says_that_three_held_runs_will_fire_and_then_they_do(
        self, page: Page, installation: Installation, three_days: None
    ):
        installation.wait_for(
            lambda: (
                installation.request("GET", "/api/v2/heldRuns?dag_id=close_tills")[1]["total_entries"] == 3
            )
        )
        page.goto("/dags/close_tills")
        page.get_by_role("link", name="See or change its mapper").click()
        loosen(page)
        proposal = page.locator("#proposal")
        expect(proposal).to_contain_text("3 held runs will fire")
        for day in DAYS:
            expect(proposal).to_contain_text(day)
        expect(proposal).to_contain_text("default_mapper.wait_policy: not set → MinimumCount(n=-1)")
        expect(proposal).to_contain_text("23 of 24 keys")
        assert runs_of(installation) == []
        page.get_by_label("Reason").first.fill("one till has no clock")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("status").filter(has_text="listens as you said from now on")).to_be_visible()
        installation.wait_for(lambda: runs_of(installation) == list(DAYS))
        expect(page.get_by_text("one till has no clock").first).to_be_visible()

    def test_what_is_wrong_stands_at_its_field_until_it_is_mended(self, page: Page, three_days: None):
        page.goto(URL)
        page.get_by_label("Kind of wait policy").select_option("MinimumCount")
        field = page.get_by_label("How many (needed)")
        field.fill("most")
        proposal, around = page.locator("#proposal"), field.locator("xpath=..")
        expect(field).to_have_attribute("aria-invalid", "true")
        expect(around.locator(".means.wrong")).to_have_text(proposal.get_by_role("alert").inner_text())
        expect(page.locator("#editor .means.wrong")).to_have_count(1)
        assert field.evaluate("each => document.activeElement === each")
        field.fill("-1")
        expect(proposal).to_contain_text("held runs will fire")
        expect(page.locator("#editor [aria-invalid], #editor .means.wrong")).to_have_count(0)

    def test_of_two_admins_the_second_is_told_and_loses_nothing(
        self, page: Page, context: BrowserContext, three_days: None
    ):
        other = context.new_page()
        page.goto(URL)
        other.goto(URL)
        for tab, late in ((page, "hold"), (other, "restart")):
            tab.get_by_text("Late, Settle, Late after").click()
            tab.get_by_label("Late", exact=True).select_option(late)
            expect(tab.locator("#proposal")).to_contain_text(f'late: not set → "{late}"')
            tab.get_by_label("Reason").first.fill(f"wants {late}")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("status").filter(has_text="listens as you said")).to_be_visible()
        other.get_by_role("button", name="Save", exact=True).click()
        refused = other.get_by_role("alert").first
        expect(refused).to_contain_text('changed late: not set → "hold"')
        expect(other.get_by_label("Late", exact=True)).to_have_value("restart")
        expect(other.get_by_label("Reason").first).to_have_value("wants restart")

    def test_json_that_did_not_go_into_the_form_is_kept(self, context: BrowserContext, three_days: None):
        page = context.new_page()  # whose console may complain of the refusal
        page.goto(URL)
        page.get_by_text("As JSON", exact=True).click()
        raw = page.get_by_label("The schedule as JSON")
        typed = raw.input_value() + "\n"
        raw.fill(typed)
        page.get_by_label("Reason").first.fill("one till has no clock")
        page.get_by_role("button", name="Save", exact=True).click()
        expect(page.get_by_role("alert").first).to_contain_text("fill the form with it first")
        expect(raw).to_have_value(typed)
        page.get_by_role("button", name="Fill the form with this").click()
        expect(raw).not_to_have_value(typed)
        expect(page.get_by_text("You changed the JSON.")).to_have_count(0)

    def test_is_read_and_looked_at_without_scripts(self, quiet: Page, three_days: None):
        quiet.goto(URL)
        expect(quiet.get_by_role("heading", name="How close_tills listens")).to_be_visible()
        quiet.get_by_label("Kind of default mapper").select_option("StartOfDayMapper")
        quiet.get_by_role("button", name="Look at the effect").click()
        expect(quiet.locator("#proposal")).to_contain_text("any one key")
        expect(quiet.get_by_label("Kind of default mapper")).to_have_value("StartOfDayMapper")

    def test_complains_of_nothing_while_somebody_types(self, page: Page, three_days: None):
        complaints = watch(page)
        page.goto(URL)
        page.get_by_label("Kind of wait policy").select_option("Deadline")
        page.get_by_label("After (needed)").press_sequentially("6h", delay=120)
        page.get_by_label("Kind of then").select_option("MinimumCount")
        page.get_by_label("How many (needed)").press_sequentially("20", delay=120)
        expect(page.locator("#proposal")).to_contain_text('"after": 21600')
        expect(page.get_by_label("After (needed)")).to_have_value("6h")
        assert complaints == []
