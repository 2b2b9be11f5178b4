"""Pages that report the results of rfbench as Markdown, HTML, LaTeX or text.

Each page has a Jinja template in `templates/` and a function that computes the values for this
template. The templates contain all sentences. `rfbench.pages.formatting` formats numbers, and
`rfbench.pages.grids` formats tables.
"""
