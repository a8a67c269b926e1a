"""Run what the pages of the documentation show, and fill in what the commands answer.

In a block ``console`` every line that begins with ``$`` is run, and what follows is its output; a
block ``sh`` is run without its output being shown, a block ``python`` by Python. Each page starts
in an empty folder. ``make docs`` fills in the outputs; a test runs the pages and compares, figures
apart.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from shoal.cli.background import COMPILING

DOCS = Path(__file__).parent.parent / "docs"
PAGES = sorted(
    path
    for path in DOCS.rglob("*.md")
    if re.search(r"^```(console|sh)$", path.read_text(), re.MULTILINE)
)
_BLOCK = re.compile(r"^```(console|sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What a command says where its kernels have not been compiled yet, and nowhere else.
_COMPILING = re.compile(r"\s+".join(map(re.escape, COMPILING.split())) + r"\n?")
_COMMAND, _END = "\x01", "\x02"  # what is printed after a command, and after a block


def filled(page: Path) -> str:
    """Return a page with the present output of its commands."""
    text = page.read_text()
    outputs = iter(_run(text, page.name))
    return _BLOCK.sub(lambda met: _block(met[1], met[2], next(outputs)), text)


def alike(one: str, other: str) -> bool:
    """Tell whether two pages say the same but for figures and the width of tables."""
    return _rough(one) == _rough(other)


def _rough(text: str) -> str:
    return re.sub(r"[\s─]+", " ", re.sub(r"[\d.,]*\d", "#", text))


def _run(text: str, name: str) -> list[list[str]]:
    """Run all blocks of a page in one shell; return the output of every command, block by block."""
    blocks = _BLOCK.findall(text)
    script = ["set -e"]
    for kind, body in blocks:
        if kind == "console":
            commands = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
        elif kind == "sh":
            commands = [f"( {body.strip()}\n) > /dev/null"]
        else:
            commands = [f"python - > /dev/null <<'END'\n{body}END"]
        script += [f"{command}\nprintf '{_COMMAND}'" for command in commands]
        script.append(f"printf '{_END}'")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(  # noqa: S603 -- our own pages
            ["bash", "-c", "\n".join(script)],  # noqa: S607
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    if done.returncode:
        raise SystemExit(f"{name}: a command failed.\n{done.stdout[-2000:]}")
    said = _COMPILING.sub("", done.stdout)
    return [block.split(_COMMAND)[:-1] for block in said.split(_END)[:-1]]


def _block(kind: str, body: str, outputs: list[str]) -> str:
    if kind != "console":
        return f"```{kind}\n{body}```"
    commands = [line for line in body.splitlines() if line.startswith("$ ")]
    shown = [
        "\n".join([command, *(line.rstrip() for line in output.strip("\n").splitlines())])
        for command, output in zip(commands, outputs, strict=True)
    ]
    return "```console\n" + "\n".join(shown) + "\n```"


def main() -> None:
    """Fill in all pages."""
    for page in PAGES:
        page.write_text(filled(page))


if __name__ == "__main__":
    main()
