"""The Spark engine: the same kernels, rules and checks on a table that no machine has to hold.

Rows stay on the executors. The driver sees distinct quasi-identifier tuples with their counts,
groups them as it would group rows, and sends back which tuple is published as what.
"""
