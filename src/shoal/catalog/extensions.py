"""The optional parts of the package: folders under ``shoal.ext`` that can be left out.

The rest of the package imports such a folder only inside a function, after :func:`require`, or by
an entry of the catalog that is loaded when it is used. So a folder can be deleted: what needs it is
refused by name, and everything else works.
"""

from __future__ import annotations

from importlib import import_module

from shoal.base.errors import MissingExtra

EXTENSIONS = {
    "databases": "reading and writing tables of PostgreSQL, DuckDB and SQLite",
    "exchange": "files of Excel, Stata, SPSS and SAS, and projects of ARX",
    "learning": "training classifiers on a release, and the transformer for scikit-learn",
    "proof": "proving how near a release is to the best possible",
    "spark": "tables on Apache Spark",
    "web": "the local web page",
}


def available(name: str) -> bool:
    """Return whether an extension is part of this installation."""
    package = f"shoal.ext.{name}"
    try:
        import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        return False
    return True


def require(name: str) -> None:
    """Refuse by name what an extension does that is not part of this installation."""
    if not available(name):
        raise MissingExtra(
            f"This installation of Shoal was made without the part 'shoal.ext.{name}', which is "
            f"for {EXTENSIONS[name]}. Install the whole package: pip install shoal"
        )
