"""The page to look at: one self-contained HTML file, and `verdicts.json` for machines.

Python gathers facts, `assets/page.html.j2` is filled once, `assets/page.js` draws with the kept
library plotly.js (basic bundle, MIT; its licence lies beside it). Every text of a configuration, a
file or an error stays data: JSON in the page, set as text, never as markup.
"""
