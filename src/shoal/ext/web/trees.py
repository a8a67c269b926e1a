"""A hierarchy as a tree of labels, and as an indented text to edit."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shoal.base.errors import SchemaError, format_names
from shoal.tables.domain import STAR, Taxonomy

_STEP = "  "


@dataclass(frozen=True)
class LabelTree:
    """Labels and who stands under whom; a label without an entry in ``children`` is a value."""

    top: str
    children: Mapping[str, tuple[str, ...]]

    def walk(self) -> Iterator[tuple[str, int]]:
        """Yield every label with its depth, from the top down."""
        stack = [(self.top, 0)]
        while stack:
            label, depth = stack.pop()
            yield label, depth
            stack += [(child, depth + 1) for child in reversed(self.children.get(label, ()))]

    def parents(self) -> dict[str, str]:
        """Return the parent of every label but the top."""
        return {child: label for label, below in self.children.items() for child in below}

    def inner(self) -> list[str]:
        """Return the groups, from the top down."""
        return [label for label, _ in self.walk() if label in self.children]

    def leaves(self) -> list[str]:
        """Return the values."""
        return [label for label, _ in self.walk() if label not in self.children]


def from_taxonomy(taxonomy: Taxonomy, column: str) -> LabelTree:
    """Return the tree of a hierarchy, which must not use its top as a value."""
    labels = taxonomy.labels
    if len(set(labels)) < len(labels):
        raise SchemaError(
            f"The hierarchy of column {column!r} uses its top {labels[-1]!r} as a value too, so "
            "it cannot be edited as a tree. Rename one of the two in its file and upload it."
        )
    children: dict[str, list[str]] = {labels[taxonomy.root]: []}
    # In the order of the leaves, so that groups stand as the file has them.
    order = sorted(range(len(labels)), key=lambda n: (int(taxonomy.lo[n]), -int(taxonomy.hi[n])))
    for node in order:
        if node != taxonomy.root:
            children.setdefault(labels[int(taxonomy.up[node])], []).append(labels[node])
    return LabelTree(
        labels[taxonomy.root], {label: tuple(below) for label, below in children.items()}
    )


def to_taxonomy(tree: LabelTree, column: str) -> Taxonomy:
    """Return the hierarchy of a tree; paths of different length are filled up below."""
    parents = tree.parents()
    paths = []
    for leaf in tree.leaves():
        path = [leaf]
        while path[-1] != tree.top:
            path.append(parents[path[-1]])
        paths.append(path)
    depth = max(map(len, paths))
    return Taxonomy.from_rows([[path[0]] * (depth - len(path)) + path for path in paths], column)


def group(tree: LabelTree, parent: str, labels: Sequence[str], name: str) -> LabelTree:
    """Put some labels under a parent into a new group, which stands where the first one stood."""
    _check_new(tree, name)
    below: list[str] = []
    for child in tree.children[parent]:
        if child == labels[0]:
            below.append(name)
        elif child not in labels:
            below.append(child)
    return LabelTree(tree.top, {**tree.children, parent: tuple(below), name: tuple(labels)})


def add(tree: LabelTree, labels: Sequence[str], under: str) -> LabelTree:
    """Put new values under a group."""
    if under not in tree.children:
        raise SchemaError(
            f"The hierarchy has no group {under!r}. Choose one of: {format_names(tree.inner())}."
        )
    for label in labels:
        _check_new(tree, label)
    children = {**tree.children, under: (*tree.children[under], *dict.fromkeys(labels))}
    return LabelTree(tree.top, children)


def to_outline(tree: LabelTree) -> str:
    """Write the tree as lines, two spaces further in for every level."""
    return "".join(f"{_STEP * depth}{_quoted(label)}\n" for label, depth in tree.walk())


def from_outline(text: str, column: str) -> LabelTree:
    """Read what :func:`to_outline` wrote, as edited by a person; the line of a fault is named."""
    children: dict[str, list[str]] = {}
    chain: list[tuple[int, str]] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(text.expandtabs(2).splitlines(), 1):
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip(" "))
        label = _unquoted(line.strip(), number)
        if label in seen:
            raise SchemaError(
                f"Line {number}: {label!r} already stands in line {seen[label]}. A label stands "
                "for one place in the tree: rename or remove one of the two."
            )
        seen[label] = number
        while chain and chain[-1][0] >= indent:
            chain.pop()
        if not chain and len(seen) > 1:
            raise SchemaError(
                f"Line {number}: {label!r} is not indented. Only the first line, the top of the "
                f"hierarchy of {column!r}, starts at the margin."
            )
        if chain:
            children.setdefault(chain[-1][1], []).append(label)
        chain.append((indent, label))
    if len(seen) < 2:
        raise SchemaError(
            f"The hierarchy of column {column!r} needs a top such as {STAR!r} and, indented under "
            "it, at least one value."
        )
    top = next(iter(seen))
    return LabelTree(top, {label: tuple(below) for label, below in children.items()})


def _quoted(label: str) -> str:
    bare = label == label.strip() and label.isprintable() and not label.startswith('"') and label
    return label if bare else json.dumps(label, ensure_ascii=True)


def _unquoted(text: str, number: int) -> str:
    if not text.startswith('"'):
        return text
    try:
        label = json.loads(text)
    except json.JSONDecodeError:
        label = None
    if not isinstance(label, str):
        raise SchemaError(
            f'Line {number}: {text!r} starts with a quote but is not quoted text. Write \\" for a '
            "quote inside, and close it."
        )
    return label


def _check_new(tree: LabelTree, name: str) -> None:
    if not name:
        raise SchemaError("A label needs a name. Got an empty text.")
    if name == tree.top or name in tree.parents():
        raise SchemaError(f"The tree already has a label {name!r}. Choose another name.")
