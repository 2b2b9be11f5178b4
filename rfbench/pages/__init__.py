"""Words, no numbers: templates filled with the facts of `rfbench.analysis`.

A page is a Jinja template in `templates/` and a function that gathers its facts. Templates write
every sentence; `rfbench.pages.words` writes every number; `rfbench.pages.grids` every table.
"""
