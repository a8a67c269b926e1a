"""The stages of the method `shoal`: each can be read, switched off, measured, added and removed."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from benchmarks import stages as benchmark
from shoal.base.partition import Partition
from shoal.groupers import shoal
from shoal.groupers.shoal import search
from shoal.groupers.shoal.efforts import EFFORTS
from shoal.groupers.shoal.task import Stage, make_task
from shoal.measures.losses.ncp import iloss
from shoal.privacy import All, KAnonymity, LDiversity, TCloseness
from tests.stages import without
from tests.tables import encoded

EVERY = benchmark.stages()
RULES = [
    KAnonymity(4),
    All((KAnonymity(4), LDiversity(3, "s0"))),
    All((KAnonymity(4), TCloseness(0.4, "s0"))),
]


def table(rows=500, kinds="tto"):
    return encoded(np.random.default_rng(4), rows, kinds, sensitive=(5,))


@pytest.mark.parametrize("stage", EVERY, ids=lambda stage: stage.name)
def test_every_stage_says_what_it_is_worth(stage):
    assert stage.evidence, "measure it: python -m benchmarks.stages NAME --write"
    for each in stage.evidence:
        assert each.day >= "2026-11-18"
        assert 0.0 < each.loss <= 1.0 and 0.0 < each.without <= 1.0
    assert stage.work
    assert not benchmark.worth(stage, list(stage.evidence))


def test_names_are_one_each():
    assert len({stage.name for stage in EVERY}) == len(EVERY)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.describe()[-30:])
def test_no_improvement_makes_groups_lose_more(rule):
    data = table()
    task = make_task(data, rule, replace(EFFORTS["max"], trials=20, chains=1))
    labels = shoal.group(data, rule, np.random.default_rng(1), effort="fast").labels()
    for stage in search.IMPROVEMENTS:
        if stage.applies(task):
            made = stage.make(task, labels.copy(), np.random.default_rng(2))
            assert made is None or task.loss(made) <= task.loss(labels) + 1e-9


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rule", [*RULES, KAnonymity(100)], ids=lambda rule: rule.describe()[-30:])
def test_normal_never_loses_more_than_fast_whatever_its_own_stages_find(rule, seed, monkeypatch):
    data, rates = table(450), []
    for effort in ("fast", "normal"):
        part = shoal.group(data, rule, np.random.default_rng(seed), effort=effort)
        rates.append(iloss(data, part).rate)
        # What normal does more finds nothing but one group, also where its start is cheaper.
        bad = lambda task, labels, rng: np.zeros(task.data.rows, np.int64)  # noqa: E731
        last = Stage("bad luck", lambda task: task.effort.trials > 0, bad, "", reads=id)
        monkeypatch.setattr(search, "IMPROVEMENTS", (*search.IMPROVEMENTS, last))
    assert rates[1] <= rates[0] + 1e-9


def test_an_effort_does_once_what_the_one_before_it_has_done(monkeypatch):
    data, made = table(), []
    for part in ("STARTS", "IMPROVEMENTS"):
        some = [replace(s, make=partial(watched, s, made)) for s in getattr(search, part)]
        monkeypatch.setattr(search, part, tuple(some))
    shoal.group(data, KAnonymity(3), np.random.default_rng(1))
    names = [name for name, _ in made]
    assert names.count("peel") == names.count("first trials") == names.count("chains") == 1


def test_work_follows_from_rows_and_classes():
    few, many = EFFORTS["normal"], replace(EFFORTS["normal"], chained=np.inf)
    assert [few.rounds(rows) for rows in (0, 1_000, 3_000, 5_000, 5_001)] == [60, 30, 10, 6, 0]
    assert many.rounds(10**9) == few.chains and EFFORTS["fast"].rounds(1_000) == 0
    data = table(1_410)
    assert not make_task(data, KAnonymity(10), EFFORTS["normal"]).few_classes
    assert make_task(data, KAnonymity(11), EFFORTS["normal"]).few_classes
    assert not make_task(data, KAnonymity(11), EFFORTS["fast"]).few_classes
    assert not make_task(table(400), KAnonymity(50), EFFORTS["normal"]).few_classes


def watched(stage, made, task, labels, rng):
    found = stage.make(task, labels, rng)
    made.append((stage.name, None if found is None else found.tolist()))
    return found


def test_switching_a_stage_off_changes_no_random_number_of_another(monkeypatch):
    data, runs = table(), []
    for off in ((), ("shift", "prices")):
        with monkeypatch.context() as patch:
            without(patch, *off)
            made = []
            for part in ("STARTS", "IMPROVEMENTS"):
                some = [replace(s, make=partial(watched, s, made)) for s in getattr(search, part)]
                patch.setattr(search, part, tuple(some))
            shoal.group(data, KAnonymity(4), np.random.default_rng(1))
            runs.append(dict(made))
    both, fewer = runs
    assert "prices" in both and "prices" not in fewer
    assert both["peel"] == fewer["peel"] and both["first trials"] == fewer["first trials"]


def test_a_stage_of_its_own_is_added_by_one_line(monkeypatch):
    data, rule, asked = table(), KAnonymity(4), []
    best = shoal.group(data, rule, np.random.default_rng(9)).labels()

    def applies(task):
        asked.append(task.k)
        return task.counts_rows

    made_up = Stage("made up", applies, lambda task, labels, rng: best, "nothing")
    monkeypatch.setattr(search, "STARTS", (made_up, *search.STARTS))
    monkeypatch.setattr(search, "IMPROVEMENTS", ())
    made = shoal.group(data, rule, np.random.default_rng(1))
    assert asked == [4]
    assert (made.labels() == Partition.from_labels(best).labels()).all()
    last = Stage("one group", applies, lambda task, labels, rng: 0 * labels, "nothing")
    monkeypatch.setattr(search, "IMPROVEMENTS", (last,))
    assert shoal.group(data, rule, np.random.default_rng(1)).groups == 1


def test_the_page_shows_the_stages_as_they_are():
    page = benchmark.PAGE.read_text()
    assert benchmark.renewed(page) == page, "renew it: python -m benchmarks.stages --page"


def test_the_page_is_read_in_five_minutes():
    page = benchmark.PAGE.read_text()
    for made in ("drawing", "figures"):
        page = re.sub(f"<!-- {made} -->.*<!-- end of {made} -->", "", page, flags=re.DOTALL)
    assert len(re.findall(r"\S*\w\S*", page)) <= 800


def test_a_stage_that_is_worth_little_is_named():
    from shoal.groupers.shoal.task import Measured

    (stage,) = (stage for stage in EVERY if stage.name == "shift")
    little = [Measured("x", 0.1, 0.1002, "2026-11-18")]
    assert "shift: worth less than 0.3%" in benchmark.worth(stage, little)
    assert not benchmark.worth(stage, [*little, Measured("y", 0.1, 0.101, "2026-11-18")])
