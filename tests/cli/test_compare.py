"""`shoal compare` through the real entry point."""

from __future__ import annotations

import csv
import html
import itertools
import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from unittest import mock
from xml.etree import ElementTree

from tests.cli.conftest import QUASI, Run

HEAD = ("compare", "people.csv", *QUASI, "--sensitive", "disease")
FAST = ("--methods", "mondrian,k-member", "--no-classifier", "--seed", "5")


def test_the_table_the_files_and_the_recommendation(shoal: Run, folder: Path) -> None:
    done = shoal(
        *(*HEAD, *FAST, "--k", "2,5,100"),
        *("--json", "c.json", "--csv", "c.csv", "--plot", "c.svg"),
    )
    assert done.returncode == 0, done.stderr
    assert "40 rows, 3 quasi-identifiers, 6 settings" in done.stdout
    assert "> recommended   + also on the frontier   * best of its column" in done.stdout
    lines = [line.strip("+> ").split() for line in done.stdout.splitlines()]
    shown = [line[:2] for line in lines if line[1:2] in (["2"], ["5"])]
    assert shown == [["mondrian", "2"], ["mondrian", "5"], ["k-member", "2"], ["k-member", "5"]]
    # Without colours the best figure of a column is marked too.
    with (folder / "c.csv").open() as file:
        table = list(csv.DictReader(file))
    best = min(float(row["loss"]) for row in table if row["loss"])
    assert f"{100 * best:.2f} %*" in done.stdout
    assert "\x1b" not in done.stdout
    # One line for both settings that no method could make.
    assert done.stdout.count("Not possible: ") == 1
    assert "Not possible: mondrian k=100, k-member k=100. k-anonymity with k=100" in done.stdout
    tree = json.loads((folder / "c.json").read_text())
    assert f"Recommended: {tree['recommended']}\n{tree['why']}" in done.stdout
    (chosen,) = (row for row in table if row["recommended"] == "true")
    assert f"{chosen['method']} k={chosen['k']}" == tree["recommended"]
    assert float(chosen["risk_highest"]) <= 0.2
    picture = ElementTree.fromstring((folder / "c.svg").read_text())
    assert picture.tag.endswith("svg")
    assert "Wrote c.json.\nWrote c.csv.\nWrote c.svg.\n" in done.stdout


def test_the_report_says_what_the_table_says(shoal: Run, folder: Path) -> None:
    done = shoal(*HEAD, *FAST, "--k", "2,5,100", "--report", "c.html", "--json", "c.json")
    assert done.returncode == 0, done.stderr
    tree = json.loads((folder / "c.json").read_text())
    page = (folder / "c.html").read_text()
    assert f"Recommended: {tree['recommended']}" in page
    assert html.escape(tree["why"], quote=False).replace("&#39;", "'") in page.replace("&#39;", "'")
    assert "k-anonymity with k=100 cannot be met." in page
    assert "shoal compare people.csv" in page
    for word in ("--seed ", "--seed=", "flu", "secret", "http://www.w3.org/1999/xlink", "<script"):
        assert word not in page


def test_the_command_it_recommends_makes_that_release(shoal: Run, folder: Path) -> None:
    assert shoal("init", "people.csv", "-o", "plan.toml").returncode == 0
    done = shoal("compare", "people.csv", "--plan", "plan.toml", *FAST, "--k", "4,6")
    assert done.returncode == 0, done.stderr
    (line,) = (x for x in done.stdout.splitlines() if x.startswith("Make it with: shoal "))
    made = shoal(*line.removeprefix("Make it with: shoal ").split())
    assert made.returncode == 0, made.stderr
    assert (folder / "release.csv").exists()


def test_names_with_spaces_at_their_ends_are_said_too(shoal: Run, folder: Path) -> None:
    text = (folder / "people.csv").read_text()
    (folder / "odd.csv").write_text(text.replace("age,", "age ,", 1))
    asked = ("--quasi", "age ,zip", "--top", "age =60", "--sets", "never")
    done = shoal("compare", "odd.csv", *asked, *FAST, "--k", "5")
    assert done.returncode == 0, done.stderr
    (line,) = (x for x in done.stdout.splitlines() if x.startswith("Make it with: shoal "))
    made = shoal(*shlex.split(line.removeprefix("Make it with: shoal ")), "--json", "r.json")
    assert made.returncode == 0, made.stderr
    assert (folder / "release.csv").read_text().startswith("age ,zip\n")
    plan = json.loads((folder / "r.json").read_text())["plan"]
    assert plan["columns"]["age "]["top"] == 60
    assert plan["release"]["sets"] == "never"


def test_no_weaker_command_is_recommended_where_none_can_say_it_all(
    shoal: Run, folder: Path
) -> None:
    plan = '[columns.age]\nrole="quasi"\n[columns.zip]\nrole="quasi"\n'
    (folder / "p.toml").write_text(plan)
    asked = ("--plan", "p.toml", "--allow-labels", "zip=a b", "--sets", "never")
    with mock.patch("shoal.plan.command.words_of", lambda _: None):
        done = shoal("compare", "people.csv", *asked, *FAST, "--k", "5")
    assert done.returncode == 0, done.stderr
    assert "No command can say all of this" in done.stdout
    assert "shoal anonymize people.csv" not in done.stdout


def test_the_command_it_recommends_repeats_everything_that_was_asked_for(
    shoal: Run, folder: Path
) -> None:
    (folder / "p.toml").write_text('[columns.age]\nrole = "quasi"\n')
    asked = ("--plan", "p.toml", "--quasi", "age,zip", "--top", "age=60", "--suppress", "5%")
    asked += ("--sets", "never", "--missing", "?", "--kind", "age=ordered")
    done = shoal("compare", "people.csv", *asked, *FAST, "--l", "2", "--sensitive", "disease")
    assert done.returncode == 0, done.stderr
    (line,) = (x for x in done.stdout.splitlines() if x.startswith("Make it with: shoal "))
    words = shlex.split(line.removeprefix("Make it with: shoal "))
    given = {*zip(asked[::2], asked[1::2], strict=True), ("--seed", "5"), ("--l", "2")}
    assert given | {("--sensitive", "disease")} <= {*itertools.pairwise(words)}
    made = shoal(*words)
    assert made.returncode == 0, made.stderr


def test_a_comparison_writes_no_release_and_shows_no_value(shoal: Run, folder: Path) -> None:
    done = shoal(*HEAD, *FAST, "--k", "3")
    assert done.returncode == 0
    assert [path.name for path in folder.iterdir()] == ["people.csv"]
    for word in ("flu", "secret", "N1"):
        assert word not in done.stdout


def test_several_values_of_any_rule_and_options_of_methods(shoal: Run, folder: Path) -> None:
    done = shoal(
        *(*HEAD, "--methods", "mondrian:cuts=relaxed,dummies", "--l", "2,3", "--no-queries"),
        *("--no-classifier", "--json", "c.json"),
    )
    assert done.returncode == 0, done.stderr
    tree = json.loads((folder / "c.json").read_text())
    assert [(each["label"], each["verified"]) for each in tree["settings"]] == [
        ("mondrian:cuts=relaxed l=2", True),
        ("mondrian:cuts=relaxed l=3", True),
        ("dummies l=2", True),
        ("dummies l=3", True),
    ]
    assert tree["axes"]["risk"] == "belief_worst"
    assert "query_median" not in tree["settings"][0]["figures"]


def test_notes_say_what_is_not_measured(shoal: Run) -> None:
    done = shoal("compare", "people.csv", *QUASI, "--methods", "mondrian", "--k", "3")
    assert done.returncode == 0
    assert "No query error:" in done.stdout
    assert "No classifier:" in done.stdout
    # A class may be as small as 3, so nobody is within a risk of 0.2.
    assert "Recommended: none\nNothing is recommended: no setting keeps" in done.stdout


def test_bad_use_is_refused_before_any_work(refused) -> None:
    assert "'k' parameter of --k must be a whole number" in refused(*HEAD, "--k", "2,x")
    assert "does not end in .svg" in refused(*HEAD, "--k", "3", "--plot", "c.png")
    assert "does not end in .html" in refused(*HEAD, "--k", "3", "--report", "c.pdf")
    assert "--json and --csv both name" in refused(*HEAD, "--json", "c", "--csv", "c")
    assert "'age' cannot be predicted" in refused(*HEAD, "--k", "3", "--target", "age")


def test_nothing_is_possible(refused) -> None:
    said = refused(*HEAD, *FAST, "--k", "100,200", "--plot", "c.svg")
    assert said == ""  # the reasons are what was asked for: they stand in the result


HELD = """
import sys, time, types
module = types.ModuleType("held")
count = 0
def group(data, rule, rng, **options):
    import numpy as np
    from shoal.base.partition import Partition
    global count
    count += 1
    if count == 2:
        sys.stdout.write("here\\n"); sys.stdout.flush(); time.sleep(HOW_LONG)
    return Partition.from_labels(np.arange(data.rows) // 20)
module.group = group
sys.modules["held"] = module
from dataclasses import replace
from shoal import catalog
catalog.METHODS["kaim"] = replace(catalog.METHODS["kaim"], path="held:group")
from shoal.cli.main import main
main()
"""


def held(folder: Path, how_long: float, presses: int) -> tuple[int, str, str]:
    """Run three settings, the second held up, and press ctrl-C there."""
    words = [*HEAD, "--methods", "kaim", "--k", "2,3,4", "--no-classifier", "--csv", "c.csv"]
    process = subprocess.Popen(
        [sys.executable, "-c", HELD.replace("HOW_LONG", str(how_long)), *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    said = process.stderr.readline()
    if presses > 1:
        process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    return process.returncode, out, said + errors


def test_ctrl_c_stops_between_settings_and_shows_what_is_done(folder: Path) -> None:
    code, out, errors = held(folder, 2.0, presses=1)
    assert code == 130
    assert "Stopping after the setting that is running" in errors
    assert "Stopped: 2 of 3 settings are shown, no file was written." in errors
    assert "2 settings" in out
    assert "Recommended: " in out
    assert not (folder / "c.csv").exists()


def test_a_second_ctrl_c_stops_at_once(folder: Path) -> None:
    code, out, errors = held(folder, 60.0, presses=2)
    assert code == 130
    assert "Stopped. Nothing was written." in errors
    assert out == ""


def test_it_says_when_it_recommends_less_than_the_plan(shoal: Run, folder: Path) -> None:
    plan = '[columns]\nage = {role = "quasi"}\nsex = {role = "quasi"}\n'
    (folder / "p.toml").write_text(f'{plan}[[rules]]\nname = "k-anonymity"\nk = 10\n')
    weaker = "This is weaker than the plan, which asks for k = 10"
    words = ("compare", "people.csv", "--plan", "p.toml", "--methods", "mondrian", "--k")
    assert weaker in shoal(*words, "5").stdout.replace("\n", " ")
    assert weaker not in shoal(*words, "10").stdout.replace("\n", " ")
