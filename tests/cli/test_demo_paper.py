"""``shoal demo --paper``: the worked examples, and the command that repeats each one."""

import re
import shlex

import pytest

from shoal.cli.demo_paper import PAPERS
from shoal.tables.papers import EXAMPLES
from tests.inprocess import shoal


def test_every_paper_has_an_example():
    assert tuple(EXAMPLES) == PAPERS


@pytest.mark.slow
@pytest.mark.parametrize("name", PAPERS)
def test_the_printed_command_repeats_the_example(tmp_path, name):
    done = shoal(tmp_path, "demo", "--paper", name, "--out", name, columns=400)
    assert done.returncode == 0, done.stderr
    for example in EXAMPLES[name]:
        assert example.made in done.stdout
    losses = re.findall(r"the paper ([\d.]+), ours ([\d.]+)", done.stdout)
    assert all(theirs == ours for theirs, ours in losses)
    assert len(losses) == sum(bool(example.groups) for example in EXAMPLES[name])
    commands = re.findall(r"^The command: shoal (.*)$", done.stdout, re.MULTILINE)
    assert len(commands) == len(EXAMPLES[name])
    for command in commands:
        again = shoal(tmp_path, *shlex.split(command), "--force")
        assert again.returncode == 0, again.stderr
        assert "As in" in again.stdout
    twice = shoal(tmp_path, "demo", "--paper", name, "--out", name)
    assert "already exists" in twice.stderr
    assert twice.returncode == 2


@pytest.mark.slow
def test_the_example_of_kaim_gives_table_3(tmp_path):
    shown = shoal(tmp_path, "demo", "--paper", "kaim").stdout
    theirs, ours = shown.split("Ours, method kaim")
    cells = re.compile(r"^ ([*\[].*?)\s*$", re.MULTILINE)
    theirs = cells.findall(theirs.split("Table 3")[1])
    assert sorted(theirs) == sorted(cells.findall(ours))
    assert len(theirs) == 10


def test_another_paper_is_refused(tmp_path):
    done = shoal(tmp_path, "demo", "--paper", "mondrian")
    assert done.returncode == 2
    assert "--paper takes kaim, l-clustering, alpha-k or dummies. Got 'mondrian'" in done.stderr
