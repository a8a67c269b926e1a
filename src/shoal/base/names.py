"""Which names a column may not have."""

from __future__ import annotations

import re
from collections.abc import Iterable

from shoal.base.errors import InputError, listed


def check_names(names: Iterable[str], where: object) -> None:
    """Refuse names that mean several columns wherever polars is given a name.

    ``^a.*$`` would stand for every column that starts with an a, and ``*`` for all of them: what is
    done to the one would silently be done to the others.
    """
    patterns = [name for name in names if name == "*" or re.fullmatch(r"\^.*\$", name, re.DOTALL)]
    if patterns:
        raise InputError(
            f"{where} has column names that are read as patterns: {listed(patterns)}. A name may "
            "not be '*', nor start with '^' and end with '$': rename the columns."
        )
