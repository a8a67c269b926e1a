"""A hierarchy as a tree to edit: move, rename, group, dissolve, add; and as an indented text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from shoal.base.errors import SchemaError, nearest
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
    if not paths or paths == [[tree.top]]:
        raise SchemaError(
            f"The hierarchy of column {column!r} has no values left. Undo, or make it afresh."
        )
    depth = max(map(len, paths))
    return Taxonomy.from_rows([[path[0]] * (depth - len(path)) + path for path in paths], column)


def rename(tree: LabelTree, old: str, new: str) -> LabelTree:
    """Give a label another name."""
    new = new.strip()
    _known(tree, [old])
    _fresh(tree, new)

    def named(label: str) -> str:
        return new if label == old else label

    children = {named(label): tuple(map(named, below)) for label, below in tree.children.items()}
    return LabelTree(named(tree.top), children)


def move(tree: LabelTree, labels: Sequence[str], under: str) -> LabelTree:
    """Put labels, with all that stands under them, under a group; groups left empty go."""
    _known(tree, labels)
    _known(tree, [under])
    if under not in tree.children:
        raise SchemaError(f"{under!r} is a value and holds no others. Choose a group.")
    parents = tree.parents()
    above, at = {under}, under
    while at != tree.top:
        at = parents[at]
        above.add(at)
    if stuck := [label for label in labels if label in above]:
        raise SchemaError(f"{stuck[0]!r} cannot go under {under!r}, which stands under it.")
    chosen = _topmost(tree, labels)
    children = {
        label: tuple(child for child in below if child not in chosen)
        for label, below in tree.children.items()
    }
    children[under] += tuple(chosen)
    return _tidy(LabelTree(tree.top, children))


def group(tree: LabelTree, labels: Sequence[str], name: str) -> LabelTree:
    """Put labels into a new group, which stands where the first of them stood."""
    name = name.strip()
    _known(tree, labels)
    _fresh(tree, name)
    chosen = _topmost(tree, labels)
    if not chosen or tree.top in chosen:
        raise SchemaError("Choose at least one label below the top for the new group.")
    parents = tree.parents()
    home = parents[chosen[0]]
    children = {
        label: tuple(
            name if child == chosen[0] else child
            for child in below
            if child not in chosen or child == chosen[0]
        )
        for label, below in tree.children.items()
    }
    children = {**children, name: tuple(chosen)}
    assert name in children[home]
    return _tidy(LabelTree(tree.top, children))


def dissolve(tree: LabelTree, labels: Sequence[str]) -> LabelTree:
    """Take groups away; what stood under them moves one level up."""
    _known(tree, labels)
    for label in labels:
        if label not in tree.children or label == tree.top:
            raise SchemaError(f"{label!r} is not a group below the top, so it stays.")
        below = tree.children[label]
        children = {
            parent: tuple(x for child in kids for x in (below if child == label else (child,)))
            for parent, kids in tree.children.items()
            if parent != label
        }
        tree = LabelTree(tree.top, children)
    return tree


def add(tree: LabelTree, labels: Sequence[str], under: str) -> LabelTree:
    """Put new values under a group."""
    _known(tree, [under])
    if under not in tree.children:
        raise SchemaError(f"{under!r} is a value and holds no others. Choose a group.")
    for label in labels:
        _fresh(tree, label)
    children = {**tree.children, under: (*tree.children[under], *dict.fromkeys(labels))}
    return LabelTree(tree.top, children)


def remove(tree: LabelTree, labels: Sequence[str]) -> LabelTree:
    """Take labels out, with all that stands under them."""
    _known(tree, labels)
    if tree.top in labels:
        raise SchemaError(f"The top {tree.top!r} stays: every hierarchy has one.")
    gone = set(labels)
    children = {
        label: tuple(child for child in below if child not in gone)
        for label, below in tree.children.items()
    }
    kept = {label for label, _ in LabelTree(tree.top, children).walk()}
    return _tidy(LabelTree(tree.top, {a: b for a, b in children.items() if a in kept}))


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
            f'Line {number}: {text!r} starts with a quote but is no quoted text. Write \\" for a '
            "quote inside, and close it."
        )
    return label


def _known(tree: LabelTree, labels: Sequence[str]) -> None:
    there = {tree.top, *tree.parents()}
    if not labels:
        raise SchemaError("Nothing was chosen. Tick at least one label of the tree.")
    for label in labels:
        if label not in there:
            raise SchemaError(f"The tree has no label {label!r}.{nearest(label, there)}")


def _fresh(tree: LabelTree, name: str) -> None:
    if not name:
        raise SchemaError("A label needs a name. Got an empty text.")
    if name == tree.top or name in tree.parents():
        raise SchemaError(f"The tree already has a label {name!r}. Choose another name.")


def _topmost(tree: LabelTree, labels: Sequence[str]) -> list[str]:
    """Leave out labels that stand under another one of the chosen."""
    parents, chosen = tree.parents(), set(labels)
    kept = []
    for label in dict.fromkeys(labels):
        at = label
        while at in parents and parents[at] not in chosen:
            at = parents[at]
        if at not in parents:
            kept.append(label)
    return kept


def _tidy(tree: LabelTree) -> LabelTree:
    """Drop groups that nothing stands under any more."""
    children = dict(tree.children)
    while empty := {label for label, below in children.items() if not below and label != tree.top}:
        children = {
            label: tuple(child for child in below if child not in empty)
            for label, below in children.items()
            if label not in empty
        }
    return LabelTree(tree.top, children)
