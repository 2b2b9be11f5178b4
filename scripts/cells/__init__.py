"""Kernel errors of sketches of dot-product kernels, compared with the authors' rows."""
