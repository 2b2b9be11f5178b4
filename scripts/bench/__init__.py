"""Speed of rfbench compared with scikit-learn and with the limit of the machine.

`python -m scripts.bench` measures everything in one run, see `scripts.bench.__main__`.
"""
