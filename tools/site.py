"""What mkdocs needs beyond its settings: pages outside docs/, and notebooks run and shown.

The pages of experiments and benchmarks, and those for contributors, lie where they are used; the
site takes them along and turns links between all of them. A notebook is run when the site is built,
cell by cell, so that what it shows is what the code says today.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import posixpath
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
OUTSIDE = ("C*.md", "SECURITY.md", "benchmarks/README.md", "experiments/*.md", "experiments/*/*.md")
DRAWINGS = "experiments/*/*.svg"


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that lie elsewhere."""
    from mkdocs.structure.files import File

    for path in [path for form in (*OUTSIDE, DRAWINGS) for path in sorted(ROOT.glob(form))]:
        name = path.relative_to(ROOT).as_posix()
        if name not in files.src_uris:
            files.append(File.generated(config, name, abs_src_path=str(path)))
    for path in NOTEBOOKS:
        files.remove(files.get_file_from_path(f"notebooks/{path.name}"))
        name = f"notebooks/{path.stem}.md"
        files.append(File.generated(config, name, content=shown(path)))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Let links between pages lead where the site has them; others become plain text."""
    own = page.file.src_uri
    inside = (ROOT / "docs" / own).exists()
    folder = posixpath.dirname(f"docs/{own}" if inside else own)

    def turned(met: re.Match[str]) -> str:
        text, target, anchor = met.groups()
        found = posixpath.normpath(posixpath.join(folder, target)).removeprefix("docs/")
        found = re.sub(r"\.ipynb$", ".md", found)
        if found not in files.src_uris:
            return text
        way = posixpath.relpath(found, posixpath.dirname(own) or ".")
        return f"[{text}]({way}{anchor})"

    return re.sub(r"(?<!!)\[([^\]]+)\]\(([^)#:\s]+)((?:#[^)]*)?)\)", turned, markdown)


def shown(notebook: Path) -> str:
    """Return a notebook as a page: its words, its code, and what the code answers."""
    return "\n\n".join(_told(notebook))


def _told(notebook: Path) -> Iterator[str]:
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = json.loads(notebook.read_text())["cells"]
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for cell in cells:
            source = "".join(cell["source"])
            if cell["cell_type"] == "markdown":
                yield source
            else:
                yield f"```python\n{source}\n```"
                yield from _answer(source, names)


def _answer(source: str, names: dict[str, Any]) -> Iterator[str]:
    """Run a cell as a notebook does: what is printed, then the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), names)  # noqa: S102 -- our own notebooks
        value = None
        if last is not None:
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
    if printed.getvalue():
        yield f"```text\n{printed.getvalue().rstrip()}\n```"
    if value is not None:
        yield f"```text\n{value!r}\n```"
