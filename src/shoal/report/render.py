"""Render a report from its template."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from shoal.base.errors import OutputError, ParameterError
from shoal.show.charts.paper import Chart
from shoal.show.charts.style import CSS, FIGURE_CSS, THEME
from shoal.show.charts.words import clean, format_number

AUDIENCES = ("steward", "public")
_TEMPLATES = Path(__file__).parent / "templates"


def check_audience(audience: str) -> str:
    """Return the audience, or say which there are."""
    if audience not in AUDIENCES:
        raise ParameterError(
            f"There is no audience {audience!r}. Allowed are 'steward', who may see what was "
            "computed from the original, and 'public', who may not."
        )
    return audience


def check_name(path: Path) -> Path:
    """Return the file, or refuse a name that no browser would take for a page."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise OutputError(
            f"A report is an HTML page, and {str(path)!r} does not end in .html. Give it that "
            "ending."
        )
    return path


def render(template: str | Path, **context: Any) -> str:
    """Fill a template of ours, or the file of another one; data are escaped in it."""
    charts: dict[str, int] = {}

    def figure(chart: Chart) -> Markup:
        """Draw a chart; one that was drawn before on this page gets ids of its own."""
        charts[chart.id] = charts.get(chart.id, 0) + 1
        again = charts[chart.id]
        return Markup(chart.html("" if again == 1 else str(again)))  # noqa: S704 -- escaped inside

    environment = _environment()
    if isinstance(template, Path):
        page = environment.from_string(template.read_text(encoding="utf-8"))
    else:
        page = environment.get_template(template)
    return page.render(css=_style(), figure=figure, **context)


@cache
def _style() -> Markup:
    own = (_TEMPLATES / "page.css").read_text(encoding="utf-8")
    return Markup(THEME + own + CSS + FIGURE_CSS)  # noqa: S704 -- all of it is ours


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    forms = {form: partial(format_number, form=form) for form in ("share", "count")}
    environment.filters |= {**forms, "verbatim": _verbatim, "short": _short}
    return environment


def _finalize(value: Any) -> Any:
    """Take control characters out of every text that a template writes."""
    return clean(value) if type(value) is str else value


def _verbatim(text: str) -> Markup:
    """Keep the lines of a text."""
    return Markup("\n").join(escape(clean(line)) for line in text.splitlines())


def _short(text: object, most: int = 60) -> Markup:
    """Cut a long text; the whole of it is told when the pointer rests on it."""
    whole = clean(text)
    if len(whole) <= most:
        return Markup("<bdi>{}</bdi>").format(whole)
    return Markup('<bdi title="{}">{}…</bdi>').format(whole[:2000], whole[: most - 1])
