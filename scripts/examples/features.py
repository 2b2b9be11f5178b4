"""Draw random features: z(x)'z(0) approaches the kernel as the number of features grows.

python scripts/examples/features.py [PICTURE]
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from rfbench.kernels import Gaussian
from rfbench.samplers import RKS

target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_name("features.png")
x = np.linspace(-4, 4, 201)[:, None]
zero = np.zeros((1, 1))
figure, panels = plt.subplots(1, 3, figsize=(7.2, 2.3), sharey=True, layout="constrained")
for panel, M in zip(panels, (5, 50, 500), strict=True):
    for seed in range(5):
        sampler = RKS(n_components=M, bandwidth=1.0, random_state=seed).fit(x)
        estimate = sampler.transform(x) @ sampler.transform(zero).T
        panel.plot(x, estimate, color="#0072B2", alpha=0.45, linewidth=1)
    panel.plot(x, Gaussian(bandwidth=1.0)(x, zero), color="black", linewidth=1.5)
    panel.set_title(f"M = {M}")
    panel.set_xlabel("x")
panels[0].set_ylabel("k(x, 0) and estimates")
figure.savefig(target, dpi=110)
print(f"{target}: the Gaussian kernel (black) and five draws of M random features (blue)")
