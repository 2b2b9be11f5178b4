"""The columns of ``trials.csv``: their types, and what the metrics are called."""

from __future__ import annotations

REQUIRED = ("trial_id", "protocol", "dataset", "d", "sampler", "M", "trial", "status")
TEXT = [
    "trial_id", "setting", "config", "protocol", "dataset", "sampler", "label", "variant",
    "parameters", "kernel", "bandwidth_rule", "feature_map", "solver", "alpha_convention",
    "selection", "intercept", "split", "scaling", "dtype", "seed", "timing", "status", "message",
    "data_hash", "version", "fallback",
]  # fmt: skip
INTEGER = ["n_train", "n_test", "d", "M", "columns", "kept", "trial", "threads"]
METRICS = {
    "error": "test error (%)",
    "accuracy": "test accuracy (%)",
    "relative_squared_error": "relative squared error",
    "relative_rmse": "relative RMSE",
    "rmse": "RMSE (in units of the prepared target)",
    "mae_range": "mean absolute error / range of the target",
    "r2": "R^2",
    "train_error": "training error",
    "kernel_error_spectral": "relative spectral error of the kernel",
    "kernel_error_frobenius": "relative Frobenius error of the kernel",
}
TIMES = [
    "t_pp",
    "t_features",
    "t_train",
    "t_test",
    "cpu_pp",
    "cpu_features",
    "cpu_train",
    "cpu_test",
]
NUMBER = ["bandwidth", "alpha", "alpha_scale_free", *METRICS, *TIMES, "peak_rss_mb"]
MISSING = {"", "nan", "na", "n/a", "none", "null", "<na>"}
