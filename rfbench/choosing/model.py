"""The model that leaves the house: a pipeline, its file, and the card beside it.

The card `model.json` says what can be known of a model without loading it. The model holds the same
facts, so that a card that was edited is found out.
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
from rfbench.datasets.files import Reading
from rfbench.datasets.values import write_dates
from rfbench.errors import DataError
from rfbench.escaping import to_json_value

# Of the intervals; a model file holds their widths. Twice as many levels cost a few bytes.
LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)


class Model(Pipeline):  # type: ignore[misc]
    """A pipeline of scikit-learn that takes a DataFrame as it was read."""

    half_widths_: dict[float, float]  # of a regression: of the interval of each level
    reading_: Reading | None  # how the file was read that it was fitted on; None: rows in memory
    card_: dict[str, Any]  # what its card says

    def predict_interval(self, X: Any, level: float = 0.9) -> Array:
        """Return the bounds of the target of each row, shape (n, 2).

        They hold with a probability of about `level` for rows that are drawn like those before:
        split conformal prediction promises at least that of the model that gave the widths, and
        this one was fitted again. DataError if there are none of this level, or none, of classes.
        """
        if level not in self.half_widths_:
            levels = ", ".join(map(str, self.half_widths_))
            what = f"The model has no intervals of the level {level}."
            raise DataError(what, f"It has {levels or 'none: it predicts classes'}.")
        middle, half = np.asarray(self.predict(X), dtype=float), self.half_widths_[level]
        return np.column_stack([middle - half, middle + half])

    def predictions(self, X: pd.DataFrame, level: float = 0.9) -> pd.DataFrame:
        """Return a line per row: the prediction, and probabilities or the bounds of an interval.

        Dates are written as such, rounded to the day if those of training are days.
        """
        made = pd.DataFrame({"prediction": self.predict(X)})
        if self.half_widths_:
            made[["low", "high"]] = self.predict_interval(X, level)
            form = self.reading_ and self.reading_.dates
            return made.apply(write_dates, form=form) if form else made
        names = [f"probability of {label}" for label in self.classes_]
        return made.join(pd.DataFrame(self.predict_proba(X), columns=names))


def compute_half_widths(residuals: Array) -> dict[float, float]:
    """Return half the width of the interval of each of `LEVELS`, by split conformal prediction.

    Of n rows that the model has not seen it is the k-th smallest absolute residual, k = the ceiling
    of (n + 1) times the level; infinite where k > n. Vovk, Gammerman and Shafer, Algorithmic
    Learning in a Random World, 2005.
    """
    every = np.append(np.abs(residuals), np.inf)
    widths = np.quantile(every, LEVELS, method="inverted_cdf")
    return dict(zip(LEVELS, widths.tolist(), strict=True))


def save(model: Model, folder: Path, **facts: Any) -> dict[str, Any]:
    """Write a model and its card, which is returned.

    The model's hash is remembered as one of this user. WriteError if a file cannot be written.
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
    cache.store_cached(f"model|{sha256}", "made")
    return card


def load(path: Path, *, allow_imports: bool = False) -> Model:
    """Load a model. A file of this kind can run any code: it is as trusted as its sender.

    Models that this user made on this machine are loaded as they are, others with `allow_imports`
    only. DataError if it is not allowed, or cannot be loaded, or if its card is another one.
    """

    def refused(what: str, why: str, todo: str = "") -> DataError:
        copied = "Copy both files that `rfbench choose` wrote, model.joblib and model.json."
        return DataError(f"{path} {what}", why, todo or copied)

    try:
        content = files.read(path)  # once: what is checked is what is loaded
        card = json.loads(files.read(path.with_suffix(".json")))
        sha256 = card["model_sha256"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        what = "is no model with its card beside it."
        raise refused(what, f"{type(error).__name__}: {error}.") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise refused("is not the model of its card.", "Its hash is another one.")
    if not allow_imports and cache.load_cached(f"model|{sha256}") is None:
        why = "Loading a model runs code that is in its file: it is as trusted as its sender."
        if home.is_temporary():
            why += " Without a home folder rfbench does not remember which models are yours."
        raise refused("was not made here by you.", why, "Run with --allow-imports if you trust it.")
    try:
        model: Model = joblib.load(io.BytesIO(content))
        own = {**model.card_, "model_sha256": sha256}
    except Exception as error:  # a file of another version makes them raise almost anything
        todo = "Install the versions that its card names, or run `rfbench choose` again."
        raise refused("cannot be loaded.", f"{type(error).__name__}: {error}.", todo) from error
    if own != card:
        raise refused("has a card that was changed after it was made.", "It holds other facts.")
    return model
