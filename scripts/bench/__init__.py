"""How fast rfbench is: against scikit-learn, and against what the machine can do.

`python -m scripts.bench` measures everything in one run, see `scripts.bench.__main__`.
"""
