"""Print the small changes of the code that a claim of privacy rests on, which no test notices.

``make mutants``, or ``python tools/mutants.py [--only MODULE] [--sample 200] [--seed 1]``, changes
one thing at a time in a copy of the package, runs the tests of the changed module, and
prints the changes that no test noticed. A sample is drawn by the seed, in proportion to how many
changes a module has; 0 tries all. The exit code is 1 if more than 5 % survive. Tests marked deep
are left out: what is counted is what ``make test`` notices.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tools.mutating.changes import Change, changes
from tools.mutating.running import ROOT, Copy

CHECKS = (
    "tests/unit/releases/test_corpus.py",
    "tests/unit/releases/test_generalized_check.py",
    "tests/unit/releases/test_coverage.py",
)
EXACT = ("tests/unit/releases/test_corpus.py", "tests/unit/releases/test_exact_check.py")
OVER_TIME = (
    "tests/unit/releases/test_history_check.py",
    "tests/unit/verbs/test_dummies_over_time.py",
    "tests/unit/verbs/test_k_and_m.py",
    "tests/unit/verbs/test_m_invariant_series.py",
)
RULES = (
    "tests/unit/privacy/test_rules.py",
    "tests/contracts/test_rules.py",
    "tests/unit/groupers/test_limits.py",
)
PEOPLE = ("tests/unit/base/test_people.py", "tests/unit/base/test_pseudonyms.py")

TESTS: dict[str, Sequence[str]] = {
    "privacy/alpha_k.py": (*RULES, "tests/unit/groupers/test_alpha_k.py"),
    "privacy/base.py": RULES,
    "privacy/closeness.py": (*RULES, "tests/unit/groupers/test_shoal_mix.py"),
    "privacy/k_anonymity.py": RULES,
    "privacy/l_diversity.py": RULES,
    "privacy/m_invariance.py": (*RULES, *OVER_TIME),
    "privacy/within.py": ("tests/unit/privacy/test_within.py", "tests/contracts/test_limits.py"),
    "releases/anatomy/check.py": (*EXACT, "tests/unit/groupers/test_anatomy.py"),
    "releases/check_bytes.py": (
        "tests/unit/releases/test_copy_cells.py",
        "tests/contracts/test_leaks.py",
    ),
    "releases/check_counts.py": ("tests/unit/releases/test_check_counts.py",),
    "releases/counterfeits.py": ("tests/unit/releases/test_counterfeits.py", *OVER_TIME),
    "releases/dummies/check.py": (*EXACT, "tests/unit/releases/test_dummies.py"),
    "releases/dummies/domain.py": (*EXACT, "tests/unit/releases/test_dummies_domain.py"),
    "releases/ends.py": (*CHECKS, "tests/unit/releases/test_ends.py"),
    "releases/exact/check.py": EXACT,
    "releases/generalized/check.py": (*CHECKS, *PEOPLE, "tests/unit/plan/test_limits.py"),
    "releases/generalized/coverage.py": CHECKS,
    "releases/generalized/limits.py": ("tests/unit/releases/test_generalized_limits.py", *CHECKS),
    "releases/history/check.py": OVER_TIME,
    "releases/linked.py": ("tests/unit/releases/test_linked.py", *PEOPLE),
    "releases/opened.py": (*CHECKS, "tests/unit/releases/test_other_notations.py"),
    "releases/published.py": (*CHECKS, *PEOPLE),
    "releases/readback.py": (*CHECKS, "tests/unit/tables/test_cells.py"),
    "base/pseudonyms.py": ("tests/unit/base/test_pseudonyms.py",),
    "base/atomic.py": ("tests/unit/base/test_atomic.py",),
    "tables/guessing/roles.py": ("tests/guessing/test_guess.py",),
    "verbs/audit.py": (
        "tests/unit/releases/test_corpus.py",
        "tests/unit/verbs/test_audit_faults.py",
    ),
}
"""The code that a claim rests on, and the tests that should notice a change of it."""

ALIKE = ROOT / "tools" / "mutating" / "alike.json"
"""Changes that change nothing, by module, each with the reason."""
BAR = 0.95


def drawn(only: Sequence[str], size: int, seed: int) -> list[tuple[str, Change]]:
    """Return a sample of the changes of some modules, without those that change nothing."""
    alike = json.loads(ALIKE.read_text()) if ALIKE.exists() else {}
    every = [
        (module, change)
        for module in (only or TESTS)
        for change in changes((ROOT / "src" / "shoal" / module).read_text())
        if change.what not in alike.get(module, {})
    ]
    if 0 < size < len(every):
        every = sorted(random.Random(seed).sample(every, size), key=lambda pair: pair[0])  # noqa: S311
    return every


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main(args: Sequence[str]) -> int:
    """Try the changes and print what survived: 1 if too many did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], choices=list(TESTS), metavar="MODULE")
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(args)
    tried = drawn(asked.only, asked.sample, asked.seed)
    alive: Counter[str] = Counter()
    limits: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Copy(Path(folder))
        for module, change in tried:
            tests = [test for test in TESTS[module] if (ROOT / test).exists()]
            if module not in limits:
                begun = time.monotonic()
                if not copy.passes(tests, 600):
                    _say(f"{module}: its tests fail without any change: {' '.join(tests)}")
                    return 2
                limits[module] = 30 + 5 * (time.monotonic() - begun)
            if copy.survives(module, change.source, tests, limits[module]):
                alive[module] += 1
                _say(f"{module}:{change}")
    killed = len(tried) - alive.total()
    _say(f"{killed} of {len(tried)} changes noticed ({killed / max(len(tried), 1):.1%})")
    for module, many in Counter(module for module, _ in tried).items():
        _say(f"  {module}: {many - alive[module]} of {many}")
    return 0 if killed >= BAR * len(tried) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
