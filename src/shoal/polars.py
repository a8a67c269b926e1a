"""``import shoal.polars`` gives every polars frame the namespace ``frame.shoal``."""

import polars as pl

from shoal.api.namespace import Namespace

pl.api.register_dataframe_namespace("shoal")(Namespace)
pl.api.register_lazyframe_namespace("shoal")(Namespace)
