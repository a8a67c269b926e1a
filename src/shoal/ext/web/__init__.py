"""The local web page of Shoal (``shoal serve``).

The server only keeps the state of the page and writes HTML and JSON. Everything that touches a
table happens in worker processes (:mod:`shoal.base.workers`), so that the page answers while a
method works, and no job can take the page down with it.
"""
