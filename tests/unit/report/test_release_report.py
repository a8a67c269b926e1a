"""Reports: what they say, what they never say, and that data stays data."""

import re
import warnings
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.base.errors import OutputError, ParameterError
from shoal.report.comparison import render_comparison
from shoal.report.release_report import Provenance
from shoal.report.render import AUDIENCES
from shoal.report.sections import try_attacks

VOID = {"meta", "br", "img", "input", "hr", "link"}
NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "a & b <b>",
    "👩‍🚀 {{ 7*7 }} {% if %}",
    "\u202eשלום\u202c",
    "y" * 400,
)


class Page(HTMLParser):
    """The tags and the text of a page; every tag must be closed in its order."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts, self.open, self.ids = [], [], [], [], []
        self.feed(page)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.texts))


def people(rows=300, seed=0):
    rng = np.random.default_rng(seed)
    town = np.array(["Aville", "Btown", "Chester"])[rng.integers(0, 3, rows)].tolist()
    town = [None if rng.random() < 0.1 else each for each in town]
    return pl.DataFrame(
        {
            "name": [f"SECRETNAME{i}" for i in range(rows)],
            "age": rng.integers(20, 80, rows) * 1000 + 7,
            "town": town,
            "note": [f"n{i % 4}" for i in range(rows)],
            "ill": np.array(["flu", "cold", "gout"])[rng.integers(0, 3, rows)].tolist(),
        }
    )


def run(**more):
    given = {
        "quasi": ["age", "town"],
        "sensitive": "ill",
        "identifier": "name",
        "keep": "note",
        "k": 5,
        "method": "kaim",
        "seed": 987654,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", shoal.ShoalWarning)  # that the note singles people out
        return shoal.anonymize(people(), **{**given, **more}).with_original(people())


@pytest.fixture(scope="module")
def outcome():
    return run()


@pytest.fixture(scope="module")
def steward(outcome):
    found, why = try_attacks(outcome.local_tables, outcome.original, targets=100)
    assert not why
    origin = Provenance("shoal anonymize people.csv", "people.csv", "d" * 64)
    return outcome.page(attacks=found, origin=origin, title="Release of people.csv")


@pytest.mark.slow
def test_the_report_says_what_was_promised_and_found(outcome, steward):
    page = Page(steward)
    for said in (
        "Release of people.csv",
        "The promise is kept.",
        "Every class has at least 5 rows (k-anonymity).",
        f"Reached: k = {outcome.achieved['k']} .",
        "rows published 300 every row kept",
        "rows look alike",
        "Information lost by column",
        "How many rows look alike",
        "Risk of finding a known person's row",
        "How sure one can be of the sensitive value",
        "Attacks that were tried",
        "Distributions, before and after",
        "Missing values, before and after",
        "published unchanged, and no rule protects them: note",
        "How to repeat the run",
        "shoal anonymize people.csv",
        "d" * 64,
        "quasi-identifier",
        "A seed was used. It is not shown here",
    ):
        assert said in page.text, said
    loss = f"{100 * outcome.loss.rate:.1f}".removesuffix(".0")
    assert f"information lost {loss} %" in page.text


@pytest.mark.slow
def test_a_page_is_whole_and_needs_nothing_else(steward):
    page = Page(steward)
    assert len(page.ids) == len(set(page.ids))
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(page.tags)
    loaded = [value for name, value in page.attributes if name in ("src", "href", "action")]
    assert loaded
    assert all(value.startswith("#") for value in loaded)
    policy = [value for name, value in page.attributes if name == "content" and "default" in value]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    assert "url(http" not in steward
    assert "@import" not in steward
    places = {value[1:] for value in loaded}
    assert places <= set(page.ids)


@pytest.mark.slow
def test_every_chart_has_words_and_numbers(steward):
    page = Page(steward)
    drawn = [value for name, value in page.attributes if name == "aria-labelledby"]
    assert len(drawn) >= 9
    assert all(set(value.split()) <= set(page.ids) for value in drawn)
    assert page.tags.count("figcaption") == page.tags.count("details") == len(drawn)


def test_no_original_value_and_no_seed_is_told(outcome, steward):
    shown = Page(steward).text
    assert "SECRETNAME" not in shown
    assert "987654" not in steward
    published = "\n".join(outcome.frame.cast(pl.String).write_csv().splitlines())
    hidden = [str(age) for age in outcome.original["age"].unique() if str(age) not in published]
    assert hidden, "the test needs ages that only the original has"
    assert not [age for age in hidden if re.search(rf"\b{age}\b", shown)]


def test_the_public_sees_nothing_that_was_computed_from_the_original(outcome):
    public = outcome.page(audience="public", attacks=False)
    page = Page(public)
    assert "The promise is kept." in page.text
    assert "How many rows look alike" in page.text
    for said in (
        "before",
        "Before",
        "original",
        "lost",
        "Attacks",
        "people.csv",
        "seed",
        "seconds",
    ):
        found = re.findall(rf".{{30}}\b{said}\b.{{30}}", page.text)
        glossary = page.text.split("Words used here")[-1]
        assert all(each in glossary or "original rows" in each for each in found), found


@pytest.mark.slow
def test_the_public_page_does_not_depend_on_the_original(outcome):
    from dataclasses import replace

    other = outcome.original.with_columns(
        pl.lit(50_007).alias("age"), pl.lit("Aville").alias("town"), pl.lit("flu").alias("ill")
    )
    run = replace(
        outcome.made,
        loss=replace(outcome.loss, rate=0.5, by_column={"age": 0.9, "town": 0.1}),
        rows_in=999,
        warnings=("a warning of the run",),
        notes={"levels": 3},
    )
    changed = replace(outcome, original=other, run=run)
    assert changed.page(audience="public") == outcome.page(audience="public")
    assert changed.page() != outcome.page()


@pytest.mark.slow
def test_the_same_outcome_makes_the_same_bytes(outcome):
    assert outcome.page() == outcome.page()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Someone who also knows")
@pytest.mark.parametrize("audience", AUDIENCES)
@pytest.mark.parametrize("method", ["kaim", "dummies", "anatomy"])
def test_hostile_names_and_values_stay_texts_in_every_shape(method, audience):
    rng = np.random.default_rng(1)
    rows = 120
    quasi = NASTY[0]
    frame = pl.DataFrame(
        {
            quasi: [NASTY[i] for i in rng.integers(0, 3, rows)],
            NASTY[1]: [str(NASTY[3 + i]) for i in rng.integers(0, 3, rows)],
            NASTY[3]: [NASTY[i] for i in rng.integers(0, 6, rows)],
            NASTY[5]: ["<svg onload=alert(1)>"] * rows,
        }
    )
    rules = {
        "dummies": [shoal.LDiversity(2, NASTY[3])],
        "anatomy": [shoal.FrequencyLDiversity(2, NASTY[3])],
    }
    made = shoal.anonymize(
        frame,
        quasi=[quasi, NASTY[1]],
        sensitive=NASTY[3],
        keep=NASTY[5],
        method=method,
        **({"rules": rules[method]} if method in rules else {"k": 4}),
    )
    attacks = None
    if audience == "steward":
        attacks, why = try_attacks(made.local_tables, frame, targets=50)
        assert attacks, why
    html = made.with_original(frame).page(
        audience=audience,
        attacks=attacks or False,
        origin=Provenance(NASTY[0], NASTY[1]),
        title=NASTY[0],
    )
    page = Page(html)
    assert not {"script", "img", "b"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    assert "<script>alert(1)</script>" in page.text
    assert "49 {%" not in page.text
    assert not re.search("[\u202a-\u202e\x00-\x08]", html)
    assert len(page.ids) == len(set(page.ids))


@pytest.mark.slow
def test_reports_without_a_sensitive_column_and_of_typed_tables():
    plain = Page(run(sensitive=[], keep=[], typed=True).page())
    assert "No column was declared sensitive" in plain.text
    assert "How sure one can be" not in plain.text
    assert re.search(r"\d+ to \d+", plain.text)


@pytest.mark.slow
def test_a_broken_promise_is_told_first():
    frame = people().drop("name")
    opened = shoal.open_release(frame, quasi=["age", "town"], sensitive=["ill"])
    page = Page(opened.page(verdict=opened.audit(k=5), title="Audit of x.csv"))
    assert "The promise is broken." in page.text
    assert re.search(r"Reached: k = 1 \. [\d,]+ classes break it", page.text)
    assert "What it should mean: Someone who knows" in page.text
    assert "The classes that break the rules most" in page.text
    assert "Every privacy model, for the weakest class" in page.text


@pytest.mark.slow
@pytest.mark.parametrize("method", ["kaim", "dummies", "anatomy"])
def test_an_audit_can_be_reported_with_and_without_the_original(method):
    rules = {
        "dummies": [shoal.LDiversity(2, "ill")],
        "anatomy": [shoal.FrequencyLDiversity(2, "ill")],
    }
    more = {"rules": rules[method]} if method in rules else {"k": 5}
    made = run(method=method, seed=None, **{"k": None, **more})
    st = made.local_tables.tables.get("st")
    alone = shoal.open_release(made.frame, quasi=["age", "town"], sensitive=["ill"], st=st)
    both = alone.with_original(people())
    verdict = alone.audit(**more)
    page = Page(alone.page(verdict=verdict))
    assert "The promise is kept." in page.text
    assert "Checked from the published cells alone" in page.text
    assert "before and after" not in page.text
    page = Page(both.page(verdict=verdict))
    assert "Distributions, before and after" in page.text
    page = Page(both.page(verdict=verdict, audience="public"))
    assert "before and after" not in page.text


@pytest.mark.slow
def test_a_comparison_can_be_reported():
    found = shoal.compare(
        people(), quasi=["age", "town"], sensitive=["ill"], methods=["kaim"], k=[2, 5], queries=0
    )
    page = Page(render_comparison(found, title="People", origin=Provenance("shoal compare x.csv")))
    assert found.recommended is not None
    assert f"Recommended: {found.recommended.label}" in page.text
    assert "What privacy costs" in page.text
    assert "shoal compare x.csv" in page.text
    risk = found.frame()["risk_highest"].to_list()
    assert f"{100 * risk[0]:.1f} %" in page.text


def test_unknown_audiences_and_wrong_names_are_refused(outcome, tmp_path):
    with pytest.raises(ParameterError, match=r"no audience 'press'\. Allowed are 'steward', who"):
        outcome.page(audience="press")
    with pytest.raises(OutputError, match=r"does not end in \.html"):
        outcome.report(tmp_path / "x.pdf")
    with pytest.raises(ParameterError, match="no audience"):
        outcome.report(tmp_path / "x.html", audience="press")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_a_report_is_written_whole_and_not_over_another(outcome, tmp_path):
    outcome.report(tmp_path / "x.html", title="Mine")
    page = Page((tmp_path / "x.html").read_text())
    assert "Mine" in page.text
    assert "Attacks that were tried" in page.text
    with pytest.raises(OutputError, match="already exists"):
        outcome.report(tmp_path / "x.html")
    outcome.report(tmp_path / "x.html", force=True, audience="public")
    assert "Attacks" not in (tmp_path / "x.html").read_text().split("Words used here")[0]


def test_a_report_says_why_no_attack_was_possible(outcome, monkeypatch):
    from shoal.report import sections

    def refuse(*_, **__):
        raise shoal.InputError("there is nobody to attack.")

    monkeypatch.setattr(sections, "attack", refuse)
    found, why = try_attacks(outcome.local_tables, outcome.original)
    assert found is None
    page = Page(outcome.page(attacks=False, warnings=[why]))
    assert "No attack could be tried on this release: there is nobody to attack." in page.text


@pytest.mark.filterwarnings("ignore::shoal.ShoalWarning")
def test_numbers_too_large_to_be_listed_have_a_report(tmp_path):
    table = pl.DataFrame({"x": [1e19 + i * 1e18 for i in range(40)], "age": [20, 30] * 20})
    release = shoal.anonymize(table, quasi=["x", "age"], k=5, seed=2**100)
    release.report(tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size > 0
