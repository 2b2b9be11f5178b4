"""The model that leaves the house: a pipeline, its file, and the card beside it."""

from __future__ import annotations

import hashlib
import io
import platform
from pathlib import Path
from typing import Annotated, Any, Literal

import joblib
import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from sklearn.pipeline import Pipeline

from rfbench import __version__, files
from rfbench.arrays import Array
from rfbench.choosing.losses import NUMBER_METRICS, Loss, Predicted, loss
from rfbench.datasets import hashes
from rfbench.datasets.dialect import Reading
from rfbench.datasets.values import named
from rfbench.errors import DataError

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)  # of the intervals
MODEL, CARD = "model.joblib", "model.json"


class Model(Pipeline):  # type: ignore[misc]
    """A pipeline of scikit-learn that takes a DataFrame as it was read.

    Attributes
    ----------
    half_widths_ : dict of float to float
        Of a regression: half the width of the interval of each level, see `half_widths`.
    log_target_ : bool
        Whether intervals are those of the target's logarithm.
    card_sha256_ : str
        See `Card.facts_sha256`.
    """

    half_widths_: dict[float, float]
    log_target_: bool
    card_sha256_: str

    def predict_interval(self, X: Any, level: float = 0.9) -> Array:
        """Return the bounds of the target of each row, shape (n, 2).

        They are approximate: they hold with a probability of about `level` for rows that are drawn
        like those before. Split conformal prediction promises at least that of the model whose
        errors gave the widths; this one was fitted again, on all rows.

        Raises
        ------
        DataError
            The model is one of classes, or has no intervals of this level.
        """
        if level not in getattr(self, "half_widths_", {}):
            levels = ", ".join(map(str, getattr(self, "half_widths_", {})))
            raise DataError(
                f"The model has no intervals of the level {level}.",
                f"It has {levels or 'none: it predicts classes'}.",
            )
        middle, half = np.asarray(self.predict(X), dtype=float), self.half_widths_[level]
        if self.log_target_:
            return np.column_stack([middle * np.exp(-half), middle * np.exp(half)])
        return np.column_stack([middle - half, middle + half])

    def differences(self, X: pd.DataFrame) -> Any:
        """Return what is different in a table from the training rows.

        See `rfbench.datasets.preparation.Differences`.
        """
        return self[0].differences(X)


def half_widths(residuals: Array) -> dict[float, float]:
    """Return half the width of the interval of each of `LEVELS`, by split conformal prediction.

    Of n rows that the model has not seen it is the k-th smallest absolute residual, k = the ceiling
    of (n + 1) times the level; infinite where k > n. Vovk, Gammerman and Shafer, Algorithmic
    Learning in a Random World, 2005.
    """
    ordered = np.append(np.sort(np.abs(residuals)), np.inf)
    ranks = np.minimum(np.ceil((len(residuals) + 1) * np.array(LEVELS)), len(ordered))
    return dict(zip(LEVELS, ordered[ranks.astype(int) - 1].tolist(), strict=True))


class Card(BaseModel):
    """What can be known of a model without loading it: the file model.json beside it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal[2]
    model_sha256: hashes.Sha256
    data: str
    data_sha256: hashes.Sha256
    task: Literal["classification", "regression"]
    classes: list[str]
    columns: list[str]
    label: str  # what was taken
    metric: str
    error: float  # on the rows held out, of the model before it saw them
    standard_error: float
    rows: int  # that it was fitted on
    held_out: int  # of all rows, to measure it
    holds_rows: bool
    n_bytes: int
    half_widths: dict[str, float | None]  # by level; None: the rows are too few
    reading: Reading | None = None  # how the file was read; None: the rows were in memory
    versions: dict[str, Annotated[str, Field(max_length=200)]]

    def facts_sha256(self) -> str:
        """Return the hash of all that it says but for the model's file, which holds this hash."""
        facts = self.model_dump_json(exclude={"model_sha256", "n_bytes"})
        return hashlib.sha256(facts.encode()).hexdigest()

    def other_versions(self) -> dict[str, tuple[str, str]]:
        """Return the packages that are other ones now: the version then, and that now."""
        now = versions()
        return {
            name: (then, now.get(name, "none"))
            for name, then in self.versions.items()
            if now.get(name) != then
        }


def versions() -> dict[str, str]:
    """Return the versions that a model's file depends on."""
    import sklearn

    return {
        "rfbench": __version__,
        "scikit-learn": sklearn.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


def save(model: Model, folder: Path, **facts: Any) -> Card:
    """Write a model and its card, each with the other's hash.

    The model's hash is remembered as one of this user. WriteError if a file cannot be written.
    """
    widths = {str(k): v if np.isfinite(v) else None for k, v in model.half_widths_.items()}
    card = Card(
        format=2,
        model_sha256="0" * 64,
        n_bytes=0,
        half_widths=widths,
        versions=versions(),
        **facts,
    )
    model.card_sha256_ = card.facts_sha256()
    dumped = io.BytesIO()
    joblib.dump(model, dumped, compress=3)
    content = dumped.getvalue()
    sha256 = hashlib.sha256(content).hexdigest()
    card = card.model_copy(update={"model_sha256": sha256, "n_bytes": len(content)})
    files.replace(folder / MODEL, content)
    files.replace(folder / CARD, card.model_dump_json(indent=2).encode() + b"\n")
    hashes.remember(f"model|{sha256}", "made")
    return card


def read_card(path: Path) -> Card:
    """Read the card beside a model; nothing of the model itself is loaded.

    DataError if there is no model, or no card that fits it.
    """
    if not path.is_file():
        raise DataError(
            f"There is no model {path}.", "`rfbench choose` writes model.joblib.", "Name its path."
        )
    beside = path.with_suffix(".json")
    try:
        card = Card.model_validate_json(files.read(beside))
    except OSError as error:
        raise DataError(
            f"The model's card {beside} cannot be read.",
            f"{error.strerror or error}.",
            "Copy both files: model.joblib and model.json.",
        ) from None
    except ValidationError as error:
        first = error.errors()[0]
        raise DataError(
            f"{beside} is no card of a model.",
            f"{'.'.join(map(str, first['loc']))}: {first['msg']}.",
            "Take the one that `rfbench choose` wrote.",
        ) from None
    _check_content(path, files.read(path), card)
    return card


def _check_content(path: Path, content: bytes, card: Card) -> None:
    if hashlib.sha256(content).hexdigest() != card.model_sha256:
        raise DataError(
            f"{path} is not the model of its card.",
            "Its content has another hash.",
            "Copy both files from the same folder.",
        )


def load(path: Path, card: Card, *, allow_imports: bool = False) -> Model:
    """Load a model. A file of this kind can run any code: it is as trusted as its sender.

    Models that this user made on this machine are loaded as they are, others with `allow_imports`
    only. DataError if it is not allowed, or cannot be loaded.
    """
    if not allow_imports and hashes.recall(f"model|{card.model_sha256}") is None:
        raise DataError(
            f"{path} was not made here by you.",
            "Loading a model runs code that is in its file: it is as trusted as its sender.",
            "Run with --allow-imports if you trust it.",
        )
    content = files.read(path)  # once: what was checked is what is loaded
    _check_content(path, content, card)
    try:
        model = joblib.load(io.BytesIO(content))
    except Exception as error:  # a file of another version makes them raise almost anything
        other = ", ".join(f"{n} {a}, here {b}" for n, (a, b) in card.other_versions().items())
        raise DataError(
            f"{path} cannot be loaded.",
            f"{type(error).__name__}: {error}. {f'It was made with {other}.' if other else ''}",
            "Install the versions that its card names, or run `rfbench choose` again.",
        ) from error
    if not isinstance(model, Model):
        raise DataError(f"{path} holds {type(model).__name__}, which is no model of rfbench.")
    if model.card_sha256_ != card.facts_sha256():
        raise DataError(
            f"The card {path.with_suffix('.json')} was changed after the model was made.",
            "The model file has the hash of another one.",
            "Take the card that `rfbench choose` wrote.",
        )
    return model


def check_rows(card: Card, file: str, X: pd.DataFrame) -> None:
    """Raise DataError for a table without rows, or of which the model knows no column."""
    if not len(X):
        raise DataError(
            f"{file} has no rows.", "There is nothing to predict.", "Name another file."
        )
    if not set(map(str, X.columns)) & set(card.columns):
        raise DataError(
            f"{file} has none of the columns that the model knows.",
            f"These are {named(card.columns)}.",
            "Name the file that belongs to the model, or correct its first line.",
        )


def predictions(model: Model, card: Card, X: pd.DataFrame, level: float = 0.9) -> pd.DataFrame:
    """Return one line per row: the prediction, and probabilities or the bounds of an interval."""
    made = pd.DataFrame({"prediction": model.predict(X)})
    if card.task == "classification":
        for column, label in zip(model.predict_proba(X).T, model.classes_, strict=True):
            made[f"probability of {label}"] = column
    else:
        made[["low", "high"]] = model.predict_interval(X, level)
    return made


def loss_of(metric: str, model: Any, X: pd.DataFrame, y: Any) -> Loss:
    """Return the loss of a fitted model, see `rfbench.choosing.losses`."""
    y = np.asarray(y)
    if metric in NUMBER_METRICS:
        return loss(metric, y, Predicted(np.asarray(model.predict(X), dtype=float)))
    codes = np.searchsorted(model.classes_, model.predict(X))
    shares = model.predict_proba(X)
    return loss(metric, np.searchsorted(model.classes_, y), Predicted(codes, shares))
