"""``import shoal.pandas`` gives every pandas frame the namespace ``frame.shoal``."""

import pandas as pd

from shoal.api.namespace import Namespace

pd.api.extensions.register_dataframe_accessor("shoal")(Namespace)
