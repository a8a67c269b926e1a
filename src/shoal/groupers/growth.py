"""What the greedy clustering methods share: growth within limits, and the rows left over.

A large table is cut along the tree of its entries into *blocks* of neighbouring rows that are grown
one by one, on all cores. Where the cuts are depends on the table alone, so neither the number of
cores nor their speed changes the answer, and the work grows in proportion to the rows.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from shoal.base.partition import Partition
from shoal.base.progress_share import under_way
from shoal.base.threads import share
from shoal.coding.encode import Encoded
from shoal.coding.space import make_space
from shoal.groupers.blocks import BLOCK, Block, cut_blocks
from shoal.groupers.limits import limits_of
from shoal.groupers.repair import repair
from shoal.kernels.limits import Limits, new_tally
from shoal.kernels.space.build_tree import build_tree
from shoal.kernels.space.cluster_index import add_all, new_index
from shoal.kernels.space.costs import Space, new_group
from shoal.kernels.space.covers import cover_groups, new_covers
from shoal.kernels.space.grow import FREE, Stock, grow, place_leftovers
from shoal.kernels.space.search import new_search
from shoal.kernels.space.settle import new_held, settle
from shoal.kernels.space.tree import Tree
from shoal.privacy import Rule

Ints = npt.NDArray[np.int64]
Tags = npt.NDArray[np.int32]
State = npt.NDArray[np.int8]

PART = 0.9
"""Share of a block's rows that is grouped before the blocks are cut anew."""
CHANGES = 300
"""How often another tag may begin while rows left over are settled, with fewer tags than that."""


def grow_groups(
    data: Encoded,
    space: Space,
    rule: Rule,
    rng: np.random.Generator,
    *,
    spread_seeds: bool = False,
    visits: Ints | None = None,
    most: int = BLOCK,
) -> Partition:
    """Grow groups to their target size, then let each row left over join its nearest group.

    A rule's numeric form is kept while groups grow and rows are placed; whatever it cannot say is
    put right by :func:`shoal.groupers.repair.repair`.
    """
    limits, tags = limits_of(data, rule)
    seeds = rng.permutation(data.rows)
    labels = np.full(data.rows, -1, np.int64)
    members, last, joins = _stages(data, space, limits, tags, seeds, spread_seeds, visits, most)
    labels[members.ravel()] = np.repeat(np.arange(members.shape[0]), limits.target)
    labels[last[: joins.size]] = joins
    rest = last[joins.size :]
    if not members.size:
        labels[:] = 0
    elif rest.size:
        settle_rows(data, limits, tags, members, rest, labels, visits)
    return repair(data, Partition.from_labels(labels), rule)


def grow_members(data: Encoded, space: Space, limits: Limits, tags: Tags, seeds: Ints) -> Ints:
    """Return the rows of as many groups of the target size as can be grown, a group a row."""
    return _stages(data, space, limits, tags, seeds, False, None, BLOCK)[0]


def _stages(
    data: Encoded,
    space: Space,
    limits: Limits,
    tags: Tags,
    rows: Ints,
    spread_seeds: bool,
    visits: Ints | None,
    most: int,
) -> tuple[Ints, Ints, Ints]:
    """Grow in blocks, a part of their rows at a time, until what is left fits into one block.

    The last rows of a block would have to go far for company: they get another chance in the next
    stage, among all rows left. Returns the groups, the rows that none of them took, and the groups
    that those may join at the least cost when no limits speak against it.
    """
    grown = []
    while True:
        every = cut_blocks(data, space, tags, rows, most)
        part = 1.0 if len(every) == 1 else PART

        states = [np.full(block.rows.size, FREE, np.int8) for block in every]

        def work(task: tuple[Block, State], part: float = part) -> tuple[Ints, Tree, Stock, Ints]:
            return _grow(space, limits, *task, spread_seeds, part)

        left = np.ones(data.rows, np.bool_)
        with under_way("rows grouped", partial(_taken, states, data.rows - rows.size)):
            made = share(work, list(zip(every, states, strict=True)))
        for block, (found, _, _, seen) in zip(every, made, strict=True):
            grown.append(block.rows[found])
            left[grown[-1]] = False
            if visits is not None:
                visits += seen
        rest = rows[left[rows]]
        if len(every) > 1 and rest.size:
            # Limits that leave most rows over would leave them over in every stage.
            most = most if rest.size < rows.size / 2 else rest.size
            rows = rest
            continue
        joins = np.empty(0, np.int64)
        found, tree, stock, _ = made[-1]
        if not limits.distinct.size and found.size:
            joins = _place_last(space, tree, stock, found) + sum(map(len, grown[:-1]))
        return np.concatenate(grown), rest, joins


def _taken(states: list[State], before: int) -> float:
    """Return the share of the rows that are in a group by now."""
    free = sum(int((state == FREE).sum()) for state in states)
    rows = before + sum(state.size for state in states)
    return 1 - free / rows


def _grow(
    space: Space, limits: Limits, block: Block, state: State, spread_seeds: bool, part: float
) -> tuple[Ints, Tree, Stock, Ints]:
    """Return groups grown of a part of a block, what they were grown with, and the visits made."""
    tree, stock = stock_of(space, block)
    members = np.empty((int(part * block.rows.size) // limits.target, limits.target), np.int64)
    search, seeds = new_search(space, tree), np.arange(block.rows.size)
    tally = new_tally(limits)
    groups = grow(search, limits, tally, stock, seeds, state, spread_seeds or None, members)
    return members[:groups], tree, stock, search.visits


def _place_last(space: Space, tree: Tree, stock: Stock, members: Ints) -> Ints:
    """Return the group that each row left over is cheapest to join, in the order of the rows."""
    left = np.ones(stock.entry_of.size, np.bool_)
    left[members.ravel()] = False
    rest = stock.entry_of[left]
    joins = np.empty(rest.size, np.int64)
    if rest.size:
        price = np.empty((rest.size, members.shape[0]))
        place_leftovers(
            space, new_group(space), tree.codes, stock.entry_of[members], rest, price, joins
        )
    return joins


def settle_rows(
    data: Encoded,
    limits: Limits,
    tags: Tags,
    members: Ints,
    rest: Ints,
    labels: Ints,
    visits: Ints | None = None,
) -> None:
    """Label each row of ``rest`` with the group it is cheapest to join within the limits.

    Limits can leave many rows over, so this is a search by the loss. Rows that fit nowhere make up
    one group, for the repair.
    """
    space = make_space(data)
    (block,) = cut_blocks(data, space, tags, np.arange(data.rows), data.rows)
    tree, stock = stock_of(space, block)
    groups = members.shape[0]
    covers = new_covers(space, groups + 1)
    starts = np.arange(groups + 1) * limits.target
    cover_groups(space, covers, data.codes, members.ravel(), starts)
    index = new_index(tree, stock.left.size, groups, limits.target)
    add_all(tree, index, covers, stock.entry_of[members[:, 0]])
    search, held = new_search(space, tree, visits), new_held(limits, groups)
    rest = in_turns(rest, tags)
    settle(search, covers, index, limits, held, stock.entry_of, rest, groups, labels)
    labels[labels < 0] = groups


def in_turns(rest: Ints, tags: Tags) -> Ints:
    """Return the rows in another order: in every turn a part of each tag's rows, tag after tag.

    Settling looks at all rows of the table when a tag begins, so tags should not alternate too
    often. One tag after the other in a single turn would let the first ones take the best places.
    """
    order = rest[np.argsort(tags[rest], kind="stable")]
    _, first, which, count = np.unique(
        tags[order], return_index=True, return_inverse=True, return_counts=True
    )
    turns = max(1, CHANGES // count.size)
    turn = (np.arange(order.size) - first[which]) * turns // count[which]
    return order[np.argsort(turn, kind="stable")]


def stock_of(space: Space, block: Block) -> tuple[Tree, Stock]:
    """Return the tree over the entries of a block and the rows in it."""
    tree, order = build_tree(space, block.codes, block.count, block.tag)
    rank = np.empty(order.size, np.int64)
    rank[order] = np.arange(order.size)
    count, entry = block.count[order], rank[block.entry]
    tail = np.cumsum(count)
    rows = np.argsort(entry, kind="stable")
    return tree, Stock(tail - count, tail, count, rows, entry)
