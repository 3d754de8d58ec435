"""A finger on a phone."""

from playwright.sync_api import Locator, Page


class Finger:
    """A finger on the screen, as the browser is told of one."""

    def __init__(self, page: Page) -> None:
        self.page, self.told = page, page.context.new_cdp_session(page)

    def down(self, where: Locator) -> None:
        where.scroll_into_view_if_needed()
        self._tell("touchStart", self.middle_of(where))

    def move(self, point: dict[str, float]) -> None:
        self._tell("touchMove", point)

    def up(self) -> None:
        self.told.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def middle_of(self, where: Locator) -> dict[str, float]:
        box = where.bounding_box()
        return {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}

    def _tell(self, what: str, point: dict[str, float]) -> None:
        self.told.send("Input.dispatchTouchEvent", {"type": what, "touchPoints": [point]})
