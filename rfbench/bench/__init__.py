"""How fast rfbench is: against scikit-learn, and against what the machine can do.

`python -m rfbench.bench` measures everything in one run, see `rfbench.bench.__main__`.
"""
