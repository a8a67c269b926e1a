"""``make bench``: the benchmarks of grouping, then all methods side by side."""

from benchmarks import grouping, methods

grouping.main()
methods.main([])
