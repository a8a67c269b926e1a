"""All small changes of a module's code: an operator turned round, a line dropped, a value changed.

A change is named by its place (the number of its node in a walk over the tree, and which of the
node's changes it is), so that the same source always has the same changes.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

COMPARE: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
BINARY: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
NAMES = {"any": "all", "all": "any", "min": "max", "max": "min"}
NAMES |= {"minimum": "maximum", "maximum": "minimum", "argmax": "argmin", "argmin": "argmax"}
TEXTS = {"full": "inner", "left": "inner"}  # how tables are joined
# Nothing is decided there: types, error messages, what is only shown.
SKIPPED = (ast.JoinedStr, ast.Raise, ast.arguments, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Change:
    """One change of a module: where it is, what it does, and the module's source with it."""

    line: int
    what: str
    source: str

    def __str__(self) -> str:
        return f"{self.line}: {self.what}"


def changes(source: str) -> list[Change]:
    """Return every change of a module's source, in the order of its lines."""
    tree = ast.parse(source)
    places = [
        (number, variant)
        for number, node in enumerate(ast.walk(tree))
        if number in _decided(tree)
        for variant in range(len(list(_variants(node))))
    ]
    found = [_changed(tree, *place) for place in places]
    return sorted(found, key=lambda change: (change.line, change.what))


def _decided(tree: ast.Module) -> frozenset[int]:
    """Return the numbers of the nodes that decide something, computed once per tree."""
    known = getattr(tree, "_decided", None)
    if known is None:
        skipped: set[int] = set()
        for node in ast.walk(tree):
            for part in _undecided(node):
                skipped.update(id(each) for each in ast.walk(part))
        inside = {
            id(each)
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
            for statement in node.body
            for each in ast.walk(statement)
        }
        nodes = enumerate(ast.walk(tree))
        known = frozenset(n for n, node in nodes if id(node) in inside and id(node) not in skipped)
        tree._decided = known  # type: ignore[attr-defined]
    return known


def _undecided(node: ast.AST) -> Iterator[ast.AST]:
    if isinstance(node, SKIPPED):
        yield node
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        yield node
    if isinstance(node, ast.AnnAssign):
        yield node.annotation
    if isinstance(node, ast.FunctionDef):
        yield from node.decorator_list
        if node.returns is not None:
            yield node.returns


def _changed(tree: ast.Module, number: int, variant: int) -> Change:
    changed = copy.deepcopy(tree)
    nodes = list(ast.walk(changed))
    old = nodes[number]
    what, new = list(_variants(old))[variant]
    before = ast.unparse(old)
    for parent in nodes:
        for name, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, name, new)
            elif isinstance(value, list) and any(each is old for each in value):
                value[[each is old for each in value].index(True)] = new
    ast.fix_missing_locations(changed)
    after = ast.unparse(new)
    shown = what if isinstance(new, ast.Pass) else f"{what}: {_short(after)}"
    return Change(old.lineno, f"{_short(before)} -> {shown}", ast.unparse(changed) + "\n")  # type: ignore[attr-defined]


def _short(text: str) -> str:
    first = text.splitlines()[0]
    return first if len(first) <= 70 else first[:67] + "..."


def _variants(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Return what a node may be changed to, each with a word for the change."""
    if isinstance(node, ast.Compare):
        yield from _compared(node)
    elif isinstance(node, ast.BoolOp):
        yield from _joined(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert, ast.USub)):
        yield "dropped sign", node.operand
    elif isinstance(node, ast.BinOp) and type(node.op) in BINARY:
        yield "operator", ast.BinOp(node.left, BINARY[type(node.op)](), node.right)
    elif isinstance(node, (ast.If, ast.IfExp)):
        for value in (True, False):
            if not (value and isinstance(node, ast.If) and node.orelse):
                yield f"always {value}", _with(node, test=ast.Constant(value))
        yield "turned round", _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.Constant):
        yield from _constant(node)
    elif isinstance(node, ast.comprehension) and node.ifs:
        return
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        for place, each in enumerate(node.generators):
            if each.ifs:
                bare = _with(each, ifs=[])
                parts = [bare if n == place else g for n, g in enumerate(node.generators)]
                yield "without its condition", _with(node, generators=parts)
    elif isinstance(node, ast.Attribute) and node.attr in NAMES:
        yield "name", _with(node, attr=NAMES[node.attr])
    elif isinstance(node, ast.Name) and node.id in NAMES:
        yield "name", ast.Name(NAMES[node.id], node.ctx)
    elif isinstance(node, ast.Return) and isinstance(node.value, (ast.List, ast.BinOp, ast.Name)):
        if not (isinstance(node.value, ast.List) and not node.value.elts):
            yield "nothing", ast.Return(ast.List([], ast.Load()))
    elif isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    ):
        yield "dropped", ast.Pass()


def _with(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def _compared(node: ast.Compare) -> Iterator[tuple[str, ast.AST]]:
    for place, op in enumerate(node.ops):
        for other in COMPARE[type(op)]:
            ops = [other() if n == place else each for n, each in enumerate(node.ops)]
            yield "comparison", ast.Compare(node.left, ops, node.comparators)


def _joined(node: ast.BoolOp) -> Iterator[tuple[str, ast.AST]]:
    yield "and/or", ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    for place in range(len(node.values)):
        rest = [each for n, each in enumerate(node.values) if n != place]
        yield "part dropped", rest[0] if len(rest) == 1 else ast.BoolOp(node.op, rest)


def _constant(node: ast.Constant) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node.value, bool):
        yield "value", ast.Constant(not node.value)
    elif isinstance(node.value, (int, float)):
        yield "value", ast.Constant(node.value + 1)
    elif isinstance(node.value, str) and node.value in TEXTS:
        yield "value", ast.Constant(TEXTS[node.value])
