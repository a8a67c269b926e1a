"""Reports that people can read: one HTML file, no network, no script."""

from shoal.report.comparison import render_comparison
from shoal.report.pages import AUDIENCES, check_audience, render
from shoal.report.run import Provenance, render_run
from shoal.report.verdict import audited, render_verdict
from shoal.report.writing import check_name, try_attacks

__all__ = [
    "AUDIENCES",
    "Provenance",
    "audited",
    "check_audience",
    "check_name",
    "render",
    "render_comparison",
    "render_run",
    "render_verdict",
    "try_attacks",
]
