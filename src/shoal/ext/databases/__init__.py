"""Tables in databases: PostgreSQL, DuckDB and SQLite, read and written as Arrow batches.

``address`` and ``source`` say where a table is and load nothing heavy; ``reading`` and ``writing``
do the work through one driver module for each system, which alone imports its library.
"""
