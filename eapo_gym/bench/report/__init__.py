"""Reports: one HTML file with the numbers of a run and every step of its episodes; see `page` for what it promises."""

from eapo_gym.bench.report.page import episode_page, report_page, write_report
from eapo_gym.bench.report.view import view_of

__all__ = ["episode_page", "report_page", "view_of", "write_report"]
