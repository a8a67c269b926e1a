"""``make bench``: the peers, what a start costs, grouping against naive loops, all methods."""

from benchmarks import cold, grouping, methods
from benchmarks.peers import __main__ as peers

peers.main()
cold.main()
grouping.main()
methods.main([])
