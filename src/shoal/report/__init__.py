"""Reports that people can read: one HTML file, no network, no script."""

from shoal.report.comparison import render_comparison
from shoal.report.outcome import Provenance, render_outcome
from shoal.report.pages import AUDIENCES, check_audience, render
from shoal.report.verdict import audited, render_verdict
from shoal.report.writing import check_name, try_attacks, write_report

__all__ = [
    "AUDIENCES",
    "Provenance",
    "audited",
    "check_audience",
    "check_name",
    "render",
    "render_comparison",
    "render_outcome",
    "render_verdict",
    "try_attacks",
    "write_report",
]
