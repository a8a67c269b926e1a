"""A setting that no plan has, declared in one place: a field of the table on releases.

``python -m tests.contracts.made_up_setting`` adds it, asserts that every way in and out knows it,
and walks it through the tests of settings: file, command, Python, page.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Annotated

from pydantic import Field
from pydantic.fields import FieldInfo

from shoal.plan import parts
from shoal.plan.plan import Plan
from shoal.plan.setting import Setting

MEANING = "how loud the release is, which nobody else declares"
DECLARED = Annotated[
    float, Field(ge=0, le=11), Setting(f"H{MEANING[1:]}.", "LEVEL", group="Output", rare=True)
]
WALKS = ("tests/contracts/test_settings.py", "tests/ext/web/test_whole_plan.py")


def add() -> None:
    """Declare ``[release] loudness``, a number from 0 to 11."""
    parts.ReleasePart.__pydantic_fields__["loudness"] = FieldInfo.from_annotated_attribute(
        DECLARED, 3.0
    )
    parts.ReleasePart.model_rebuild(force=True)
    Plan.model_rebuild(force=True)


def check() -> None:
    """Assert that help, signatures, files and the reference name it."""
    import shoal
    from tests.inprocess import shoal as command
    from tools import make_arguments, make_cli_docs

    for name in ("anonymize", "compare"):
        text = command(Path.cwd(), name, "--help-all", columns=200).stdout
        output = text.partition("\nOutput\n")[2].partition("\n\n")[0]
        assert "--loudness LEVEL" in output, text
        assert "--loudness" not in command(Path.cwd(), name, "--help").stdout
    assert "loudness" in inspect.signature(shoal.anonymize).parameters
    assert "loudness: float | None" in make_arguments.module()
    assert f"| `loudness` | `--loudness` | {MEANING} |" in make_cli_docs.settings_table()
    assert f"#   loudness: {MEANING}" in Plan().to_toml()


if __name__ == "__main__":
    add()
    check()
    import pytest

    options = ["-q", "-x", "-p", "no:cacheprovider", "-k", "loudness or every_key or every_setting"]
    sys.exit(pytest.main([*WALKS, *options]))
