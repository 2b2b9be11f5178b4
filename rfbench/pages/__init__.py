"""Pages of results: templates that are filled with values from `rfbench.analysis`.

Each page has a Jinja template in `templates/` and a function that computes the values for it. The
templates contain all sentences. `rfbench.pages.formatting` formats numbers, and
`rfbench.pages.grids` formats tables.
"""
