"""The tick that has a run proved: on Decide, while it runs, in the result and in the report."""

from __future__ import annotations

from html import unescape
from pathlib import Path

import pytest

from shoal.ext.web.state import WebRun
from tests.ext.web.test_flow import Steward, steward
from tests.ext.web.test_runs import decided

__all__ = ["steward"]

ROWS = [f"{20 + 7 * row % 41},{'fm'[row % 2]},{'abc'[row % 3]}" for row in range(60)]


@pytest.fixture(scope="module")
def patients(steward: Steward) -> str:
    place = steward.open("few.csv", "\n".join(["age,sex,ward", *ROWS]).encode())
    roles = {"role.0": "quasi", "role.1": "quasi", "role.2": "sensitive"}
    steward.post(f"{place}/decide", **steward.fields(place) | roles)
    return place


@pytest.fixture(scope="module")
def proved(steward, patients):
    fields = {"rule.0.k": "4", "prove": "yes"}
    number = decided(steward, patients, "k-anonymity", "mondrian", **fields)
    run = steward.run(patients, number)
    assert run["told"]["status"] == "done", run["told"]["error"]
    return run


def test_a_ticked_run_says_how_close_to_the_best_possible_it_is(steward, patients, proved) -> None:
    place, proof = f"{patients}/runs/{proved['told']['number']}", proved["view"]["summary"]["proof"]
    loss = proved["view"]["summary"]["loss"]["rate"]
    assert 0.0 < proof["bound"] <= loss
    assert proof["above"] == pytest.approx(loss / proof["bound"] - 1.0)
    assert f"Loss {loss:.4f}. No 4-anonymous release" in proof["sentence"]
    assert proof["sentence"] in unescape(steward.client.get(place).text)
    report = steward.client.get(f"{place}/files/report.html").text
    assert proof["sentence"] in unescape(report)
    public = steward.client.get(f"{place}/files/report.public.html").text
    assert "best possible" not in public  # it is worked out from the original
    assert " --prove " in proved["told"]["command"]
    assert "prove=True" in steward.get(f"{place}/take")["script"]
    assert "prove" in proved["told"]["stages"]


def test_the_tick_stays_until_it_is_taken_off(steward, patients, proved) -> None:
    assert steward.get(f"{patients}/decide")["prove"]
    shown = steward.client.get(f"{patients}/decide").text
    assert "Prove how close to the best possible" in shown
    steward.post(f"{patients}/decide", **steward.fields(patients), prove="")
    assert not steward.get(f"{patients}/decide")["prove"]


def test_what_cannot_be_proved_is_refused_before_it_runs(steward, patients) -> None:
    form = steward.fields(patients)
    form = {k: v for k, v in form.items() if not k.startswith(("rule.", "option."))}
    form |= {"rule.0.name": "frequency-l-diversity", "rule.0.l": "3", "prove": "yes"}
    form |= {"method": "anatomy", "method-was": "anatomy", "do": "run"}
    answer = steward.post(f"{patients}/decide", status=422, **form)
    assert "there is nothing to prove" in answer.text
    steward.post(f"{patients}/decide", **{**form, "prove": "", "do": ""})
    assert steward.get(f"{patients}/decide")["ready"]


def test_what_is_enough_for_the_groups_is_not_enough_for_the_proof() -> None:
    run = WebRun(1, "", "", "", Path(), anytime=True, method="shoal", rules=[], prove=True)
    run.on_stage("refine")
    run.enough = True
    run.on_stage("refine")
    assert run.enough
    run.on_stage("prove")
    assert not run.enough
    run.on_stage("prove: at most 7.0 % above the best")
    assert (run.stage, run.far) == ("prove", "at most 7.0 % above the best")
    run.enough = True
    run.on_stage("compile")
    run.on_stage("prove: at most 6.5 % above the best")
    assert run.enough and not run.compiling
