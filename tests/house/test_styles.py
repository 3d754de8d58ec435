"""Nothing lies about in the styles and the templates that no page uses."""

import re
from importlib.resources import files
from pathlib import Path

HOME = Path(__file__).parents[2]
STYLES = re.sub(r"/\*.*?\*/", "", "".join(path.read_text() for path in HOME.glob("static/*.css")), flags=re.S)
SELECTORS = " ".join(re.findall(r"([^{}]+)\{", STYLES))
TEMPLATES = sorted(HOME.glob("templates/**/*.html"))
USERS = "".join(
    path.read_text()
    for pattern in ("templates/**/*.html", "partitions_site/**/*.py", "static/*.js")
    for path in sorted(HOME.glob(pattern))
)
OF_SWAGGER = next(Path(str(files("drf_spectacular_sidecar"))).glob("static/**/swagger-ui.css")).read_text()
"""Where the classes are from that `docs.css` recolours."""

PUT_TOGETHER = re.compile(r"[pq][0-6]|[sw]-[a-z]+")
"""Classes whose names are made of a letter and a number, or of a letter and the name of a state."""

OF_DJANGO = {"400.html", "403.html", "403_csrf.html", "404.html", "500.html"}


def test_every_token_is_used():
    assert [
        name for name in set(re.findall(r"(--[a-z0-9-]+):", STYLES)) if f"var({name})" not in STYLES
    ] == []


def test_what_moves_asks_whether_it_may():
    """But what follows a finger or a wheel, which moves as they do."""
    asked = re.sub(r"@media \(prefers-reduced-motion: no-preference\) \{(?:[^{}]|\{[^{}]*\})*\}", "", STYLES)
    assert asked != STYLES
    moving = re.findall(r"\{([^{}]*(?:animation|transition)[\w-]*:[^{}]*)\}", asked)
    assert [rule for rule in moving if "animation-timeline: scroll(" not in rule] == []


def test_every_class_is_that_of_something():
    classes = set(re.findall(r"\.([a-zA-Z][\w-]*)", SELECTORS))
    rest = [name for name in sorted(classes) if not PUT_TOGETHER.fullmatch(name)]
    assert rest
    assert [name for name in rest if not re.search(rf"(?<![\w-]){name}(?![\w-])", USERS + OF_SWAGGER)] == []


def test_every_template_is_named_somewhere():
    names = {path.relative_to(HOME / "templates").as_posix() for path in TEMPLATES}
    assert [name for name in sorted(names - OF_DJANGO) if f'"{name}"' not in USERS] == []
