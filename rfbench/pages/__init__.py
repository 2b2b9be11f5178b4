"""Pages of results: templates that are filled with the facts of `rfbench.analysis`.

A page is a Jinja template in `templates/` and a function that gathers its facts. Templates contain
all sentences, `rfbench.pages.formatting` formats all numbers, and `rfbench.pages.grids` all tables.
"""
