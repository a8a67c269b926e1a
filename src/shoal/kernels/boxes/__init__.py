"""Groups as boxes of positions: peel a table, then refine its groups by many small trials."""
