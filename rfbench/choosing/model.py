"""The model that `choose` saves, a scikit-learn pipeline, and the functions to save and load it.

The card, the file `model.json`, contains facts about the model that can be read without loading
the model. The model file contains the same facts, so that an edited card is detected.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import sklearn
from sklearn.pipeline import Pipeline

from rfbench import files, home
from rfbench._version import __version__
from rfbench.arrays import Array
from rfbench.datasets import cache
from rfbench.datasets.files import ReadOptions
from rfbench.datasets.values import format_dates
from rfbench.errors import DataError
from rfbench.escaping import to_json_value

# Coverages of the prediction intervals. A model file contains the width of the interval for each
# coverage. With twice as many coverages, the file is a few bytes larger.
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


class Model(Pipeline):  # type: ignore[misc]
    """A scikit-learn pipeline that accepts a DataFrame without any preparation of its columns."""

    # maps each coverage to half the width of its prediction interval; empty for a classifier
    half_widths_: dict[float, float]
    # options with which the training file was read; None if the training rows were in memory
    reading_: ReadOptions | None
    card_: dict[str, Any]  # content of the card

    def predict_interval(self, X: Any, level: float = 0.9) -> Array:
        """Return the ends of the prediction interval of each row, shape (n, 2).

        If rows are drawn from the distribution of the training rows, an interval contains the
        target with a probability of about `level`. The width is from split conformal prediction,
        with errors of a model that was fitted on fewer rows. Raise DataError if the model is a
        classifier, or if it has no interval of this level.
        """
        if level not in self.half_widths_:
            levels = ", ".join(map(str, self.half_widths_))
            what = f"The model does not have intervals with the level {level}."
            raise DataError(
                what, f"The levels are {levels or 'not defined, because it predicts classes'}."
            )
        middle, half = np.asarray(self.predict(X), dtype=float), self.half_widths_[level]
        return np.column_stack([middle - half, middle + half])

    def compute_predictions(self, X: pd.DataFrame, level: float = 0.9) -> pd.DataFrame:
        """Return a table of predictions, with class probabilities or with prediction intervals.

        `level` is the probability that an interval contains the target. If the target is a date,
        predictions are formatted as dates. Dates are rounded to days if the training dates have no
        time of day.
        """
        made = pd.DataFrame({"prediction": self.predict(X)})
        if self.half_widths_:
            made[["low", "high"]] = self.predict_interval(X, level)
            form = self.reading_ and self.reading_.dates
            return made.apply(format_dates, form=form) if form else made
        names = [f"probability of {label}" for label in self.classes_]
        return made.join(pd.DataFrame(self.predict_proba(X), columns=names))


def compute_interval_half_widths(residuals: Array) -> dict[float, float]:
    """Return half the width of the prediction interval for each probability in `LEVELS`.

    `residuals` are the errors on n rows that were not used in the fit. Half the width for a
    probability `level` is the k-th smallest absolute residual, with k = ceil((n + 1) * level). It
    is infinite if k > n. The method is split conformal prediction (Vovk, Gammerman and Shafer,
    Algorithmic Learning in a Random World, 2005).
    """
    every = np.append(np.abs(residuals), np.inf)
    widths = np.quantile(every, LEVELS, method="inverted_cdf")
    return dict(zip(LEVELS, widths.tolist(), strict=True))


def save_model(model: Model, folder: Path, **facts: Any) -> dict[str, Any]:
    """Write a model to ``model.joblib`` and facts about it to ``model.json``. Return the facts.

    The hash of the model is stored in a folder of the user, so that `load_model` recognizes models
    of this user. Raise WriteError if a file cannot be written.
    """
    widths = {str(level): width for level, width in model.half_widths_.items()}
    reading = None if model.reading_ is None else vars(model.reading_)
    versions = {"rfbench": __version__, "scikit-learn": sklearn.__version__}
    facts |= {"half_widths": widths, "reading": reading, "versions": versions}
    model.card_ = to_json_value(facts)
    dumped = io.BytesIO()
    joblib.dump(model, dumped, compress=3)
    content = dumped.getvalue()
    sha256 = hashlib.sha256(content).hexdigest()
    card = {**model.card_, "model_sha256": sha256}
    files.replace(folder / "model.joblib", content)
    files.replace(folder / "model.json", json.dumps(card, indent=2).encode() + b"\n")
    cache.store_cached_text(f"model|{sha256}", "made")
    return card


def load_model(path: Path, *, allow_imports: bool = False) -> Model:
    """Load a model file that `save_model` wrote. Loading can run any code that the file contains.

    Models of the same user on the same machine are always loaded. All other models require
    `allow_imports`. Raise DataError if loading is not allowed or fails, or if the file `model.json`
    does not match the model.
    """

    def refused(what: str, why: str, todo: str = "") -> DataError:
        copied = "Copy the two files that `rfbench choose` wrote: model.joblib and model.json."
        return DataError(f"{path} {what}", why, todo or copied)

    try:
        # Read the file only once. Otherwise the file could change between the check of its hash and
        # the loading of the model.
        content = files.read(path)
        card = json.loads(files.read(path.with_suffix(".json")))
        sha256 = card["model_sha256"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        what = "has no valid file model.json (its card) in the same folder, or cannot be read."
        raise refused(what, f"{type(error).__name__}: {error}.") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise refused(
            "is a model file that does not belong to its card model.json.",
            "The hash of the model differs from the hash in the card.",
        )
    if not allow_imports and cache.load_cached_text(f"model|{sha256}") is None:
        why = (
            "Loading a model runs code from its file, so the file is only as "
            "trustworthy as its sender."
        )
        if home.is_temporary_folder():
            why += " Without a home folder, rfbench has no list of the models that you wrote."
        raise refused(
            "is a model file that was not written by you on this machine.",
            why,
            "Run with --allow-imports if you trust the file.",
        )
    try:
        model: Model = joblib.load(io.BytesIO(content))
        own = {**model.card_, "model_sha256": sha256}
    except Exception as error:  # a file of a different version can raise almost any exception
        todo = "Install the versions in the card model.json, or run `rfbench choose` again."
        raise refused("cannot be loaded.", f"{type(error).__name__}: {error}.", todo) from error
    if own != card:
        raise refused(
            "has a card model.json that was changed after it was written.",
            "The model file contains facts that differ from the facts in the card.",
        )
    return model
