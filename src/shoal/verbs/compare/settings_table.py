"""The table of a comparison: a row for every setting, the best figures marked."""

from __future__ import annotations

from typing import Any

from shoal.base.results import ResultTable, percent
from shoal.catalog import LOSSES
from shoal.verbs.compare.choices import format_flag_value
from shoal.verbs.compare.measuring import figures_of_settings

# The figures of the table next to losses: name, heading, how it is written.
_SHOWN = (
    ("above_best", "above best", ".1%"),
    ("risk_highest", "risk", ".1%"),
    ("risk_mean", "mean risk", ".1%"),
    ("risk_above", "at risk", ".1%"),
    ("belief_worst", "belief", ".1%"),
    ("share_ratio", "max gain", ".2f"),
    ("read_off", "deduced", ".1%"),
    ("left_out", "removed", ",.0f"),
    ("classes", "classes", ",.0f"),
    ("query_median", "query error", ".1%"),
    ("accuracy", "accuracy", ".1%"),
    ("seconds", "seconds", ".2f"),
)
# Columns that a narrow terminal does without, the first one first.
_SPARE = (
    *("seconds", "mean risk", "at risk", "deduced", "classes", "removed", "above best"),
    *("max gain", "query error", "accuracy"),
)


def settings_table(comparison: Any) -> ResultTable:
    """Return the table of a :class:`shoal.verbs.compare.comparison.Comparison`: a row a setting."""
    better = figures_of_settings()
    measured = {name for setting in comparison.verified for name in setting.figures}
    some_left = any(setting.figures.get("left_out") for setting in comparison.verified)
    losses = [(n, n.replace("_", " "), entry.form) for n, entry in LOSSES.items() if entry.shown]
    shown = [
        (name, head, form)
        for name, head, form in (*losses, *_SHOWN)
        if name in measured and (name != "left_out" or some_left)
    ]
    rows, strong = [], set()
    best = {}
    for name, _, form in shown:
        values = [
            setting.figures[name] for setting in comparison.verified if name in setting.figures
        ]
        # What looks alike in the table is marked alike, and not at all when all are alike.
        if len(values) < 2 or len({_written(value, form) for value in values}) > 1:
            best[name] = _written((max if better[name] else min)(values), form)
    for at, setting in enumerate(comparison.verified):
        mark = "+" if setting in comparison.frontier else ""
        mark = ">" if setting is comparison.recommended else mark
        row = [mark, setting.method, *(_flag(setting, flag) for flag in comparison.flags)]
        for name, _, form in shown:
            value = setting.figures.get(name)
            text = "-" if value is None else _written(value, form)
            if text == best.get(name):
                strong.add((at, len(row)))
                text += "*"
            row.append(text)
        rows.append(row)
    heads = ["", "method", *comparison.flags, *(head for _, head, _ in shown)]
    marks = {"": "> recommended   + also on the frontier   * best of its column"}
    return ResultTable(heads, rows, "", strong, _SPARE, marks | _legend(comparison))


def _written(value: float, form: str) -> str:
    return f"{value:{form}}".replace("%", " %")


def _legend(comparison: Any) -> dict[str, str]:
    """Return what each heading means."""
    limit = percent(comparison.threshold, 0)
    scores = {n: percent(score["accuracy"]) for n, score in comparison.baselines.items()}
    return {
        "loss": "information loss",
        "above best": "how much more than the best possible release it loses at most",
        "risk": "highest re-identification risk of a row",
        "mean risk": "mean re-identification risk",
        "at risk": f"rows with a risk above {limit}",
        "belief": "highest probability of a person's most likely sensitive value",
        "max gain": "largest increase of a sensitive value's share within a class; limited by "
        "alpha, beta and t",
        "deduced": "original records that can be deduced from the release",
        "query error": "median error of counts estimated from the release",
        "accuracy": f"of a classifier for {comparison.target} trained on the release; trained on "
        f"the original {scores.get('original', '-')}, always guessing the most frequent value "
        f"{scores.get('majority', '-')}",
    }


def _flag(setting: Any, flag: str) -> str:
    return format_flag_value(setting.values[flag]) if flag in setting.values else ""
