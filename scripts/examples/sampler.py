"""Define your own sampler, and compare it with plain random features on the digits.

python scripts/examples/sampler.py
"""

import numpy as np
from scipy.stats import chi

import rfbench
from rfbench.kernels import Gaussian
from rfbench.samplers import RandomFeatures


class Antithetic(RandomFeatures):
    """Gaussian directions with mirrored lengths: each short frequency has a long counterpart."""

    @classmethod
    def serves(cls, kernel):
        return issubclass(kernel, Gaussian)

    def _draw(self, X, targets, random):
        M, d = self.n_components, X.shape[1]
        directions = random.frequencies.standard_normal((M, d))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        u = random.selection.uniform(size=(M + 1) // 2)
        lengths = chi.ppf(np.concatenate([u, 1 - u])[:M], d)
        frequencies = self.kernel_.spread * lengths[:, None] * directions
        return self.unit_map(frequencies, random).times(M**-0.5)


if __name__ == "__main__":
    both = f'samplers=[rks, {{class: "{__file__}:Antithetic"}}]'
    results = rfbench.run("quickstart", [both], out="results/examples", allow_imports=True)
    compared = rfbench.compare(results, "Antithetic", "rks")
    print(compared[["M", "mean_first", "mean_second", "low", "high"]].to_string(index=False))
