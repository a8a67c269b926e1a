"""Earlier releases on the page: named where is decided, told where a run is understood."""

from __future__ import annotations

import pytest

from tests.ext.web.test_flow import Steward, steward

__all__ = ["steward"]

ILLS = ("flu", "cold", "gout", "rash")
PEOPLE = "age,diagnosis\n" + "".join(f"{20 + i % 8},{ILLS[i % 4]}\n" for i in range(32))
# Everybody's class then had the same four values: nothing is ruled out.
WIDE = "age,diagnosis\n" + "".join(f"[20-27],{ill}\n" for ill in ILLS for _ in range(8))
# And here one value for everybody: together with it, one is left to who was in both.
NARROW = "age,diagnosis\n" + "[20-27],flu\n" * 9
ROLES = {"role.0": "quasi", "kind.0": "ordered", "role.1": "sensitive"}
RULE = {"rule.0.name": "l-diversity", "rule.0.l": "2", "method": "mondrian"}


@pytest.fixture
def place(steward: Steward) -> str:
    where = steward.open("people.csv", PEOPLE.encode())
    steward.post(f"{where}/decide", **ROLES, **RULE)
    return where


def test_earlier_releases_from_decide_to_the_report(steward: Steward, place: str) -> None:
    said = steward.post(f"{place}/earlier", 422, files={"release": ("x.csv", b"zip,ill\n1,2\n")})
    assert "x.csv" in said.text or "'diagnosis'" in said.text
    assert "/earlier/" not in said.text.replace(f"{place}/earlier", "")  # no path of this machine
    assert steward.post(f"{place}/earlier", 400).status_code == 400
    steward.post(f"{place}/earlier", files={"release": ("2024 <b>.csv", WIDE.encode())})
    assert steward.get(f"{place}/decide")["earlier"] == ["2024 <b>.csv"]
    twice = steward.post(f"{place}/earlier", 422, files={"release": ("2024 <b>.csv", b"age\n1\n")})
    assert "is named already" in twice.text
    page = steward.client.get(f"{place}/decide").text
    assert "2024 &lt;b&gt;.csv" in page and "2024 <b>" not in page
    # Without a sensitive column there is nothing to narrow down, and no run.
    nothing = {**ROLES, "role.1": "keep", "rule.0.name": "k-anonymity", "rule.0.k": "4"}
    steward.post(f"{place}/decide", 422, **nothing, method="mondrian", do="run")
    assert "they narrow down sensitive values" in str(steward.get(f"{place}/decide")["faults"])
    steward.post(f"{place}/decide", **ROLES, **RULE, do="run")
    steward.until(f"{place}/runs", lambda seen: not seen["busy"])
    (run,) = steward.get(f"{place}/runs")["runs"]
    assert run["status"] == "done", run["error"]
    assert "--against '2024 <b>.csv'" in run["command"]
    told = steward.get(f"{place}/runs/1")["view"]["summary"]["earlier"]["diagnosis"]
    assert told["releases"] == 1 and told["all"]["rows"] == 32
    page = steward.client.get(f"{place}/runs/1").text
    assert "With earlier releases" in page and "values of <bdi>diagnosis</bdi> left" in page
    for name in ("report.html", "report.public.html"):
        report = steward.client.get(f"{place}/runs/1/files/{name}").text
        assert "With earlier releases" in report
        assert ("2024" in report) == (name == "report.html")  # in the command that repeats it
    # A release with which somebody learns too much: nothing is released, and the reason is told.
    steward.post(f"{place}/earlier", files={"release": ("2025.csv", NARROW.encode())})
    steward.post(f"{place}/decide", **ROLES, **RULE, do="run")
    steward.until(f"{place}/runs", lambda seen: not seen["busy"])
    run = steward.get(f"{place}/runs")["runs"][-1]
    assert run["status"] == "failed"
    assert "with the earlier releases" in run["error"] and "no longer holds" in run["error"]
    steward.get(f"{place}/runs/2/files/release.csv", 404)
    steward.post(f"{place}/earlier", remove="2025.csv")
    assert steward.get(f"{place}/decide")["earlier"] == ["2024 <b>.csv"]
