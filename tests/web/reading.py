"""Reads pages as people do: their text, their links, their forms."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}


@dataclass
class Element:
    tag: str
    attributes: dict[str, str]
    words: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


class Page(HTMLParser):
    """The elements of a page in order, each with all the text inside it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self._open: list[Element] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_startendtag(self, tag, attrs):
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag):
        while self._open and self._open.pop().tag != tag:
            pass

    def handle_data(self, data):
        for element in self._open:
            element.words.append(data)

    def all(self, tag: str, **attributes: str) -> list[Element]:
        return [
            element
            for element in self.elements
            if element.tag == tag
            and all(
                element.attributes.get(name.rstrip("_").replace("_", "-")) == value
                for name, value in attributes.items()
            )
        ]

    @property
    def squares(self) -> list[Element]:
        """Partitions that are drawn, each a link."""
        return [each for each in self.all("a") if each.attributes.get("class", "").startswith("c ")]

    @property
    def text(self) -> str:
        return self.elements[0].text if self.elements else ""

    @property
    def links(self) -> dict[str, str]:
        return {
            element.text: element.attributes["href"]
            for element in self.all("a")
            if "href" in element.attributes
        }

    @property
    def fields(self) -> dict[str, str]:
        return {
            element.attributes["name"]: element.attributes.get("value", "")
            for element in self.all("input")
            if "name" in element.attributes
        }


def read(response) -> Page:
    """:raises AssertionError: if there is no page."""
    assert response.status_code in (200, 404, 409, 422), response
    return Page(response.content.decode())


def squares(page: Page) -> dict[str, str]:
    """Where each square leads, by its label."""
    return {each.attributes["aria-label"]: each.attributes["href"] for each in page.squares}
