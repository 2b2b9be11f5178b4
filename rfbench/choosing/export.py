"""A model of `choose` as ONNX: for programs that have no Python."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import RidgeCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from rfbench.choosing.model import Model
from rfbench.choosing.parts import FeatureClassifier, FeatureRegressor
from rfbench.datasets.preparation import Preparation
from rfbench.datasets.scaling import BOUND, FAR, SmoothClipScaler
from rfbench.datasets.values import NUMBER
from rfbench.errors import DataError, writing
from rfbench.samplers.feature_map import FeatureMap
from rfbench.samplers.metric import LearnedMetric

OPSET, IR_VERSION = 17, 8  # of 2022: what runs models knows them
TAIL = -18.0  # there either form of the softplus is right to 1e-8
ROWS, PREDICTION, PROBABILITIES = "rows", "prediction", "probabilities"


def write_onnx(model: Model, path: Path) -> list[str]:
    """Write a model of random waves, or a linear one, as ONNX in double precision.

    Its input `rows` has shape (n, columns). Its output is `prediction`, shape (n,), of a
    regression, or `probabilities`, shape (n, K), of classes in their order.

    Returns
    -------
    list of str
        The columns of the input, in order; they also stand in the file's metadata.

    Raises
    ------
    DataError
        A part of the model has no form in ONNX, or onnx is not installed.
    WriteError
        The file cannot be written.
    """
    try:
        import onnx
    except ImportError:
        raise DataError(
            "onnx is not installed.", "It writes the file.", "Run `pip install 'rfbench[onnx]'`."
        ) from None
    graph = _Graph(onnx)
    parts = list(_parts(model))
    columns = _used_columns(parts[0])
    for part in parts[1:]:
        _add(graph, part)
    classes = getattr(model[-1], "classes_", None)
    made = graph.model(len(columns), None if classes is None else len(classes))
    facts = {"columns": columns, "classes": [] if classes is None else classes.tolist()}
    onnx.helper.set_model_props(made, {name: "\n".join(map(str, v)) for name, v in facts.items()})
    onnx.checker.check_model(made)
    with writing(f"{path} cannot be written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made.SerializeToString())
    return columns


class _Graph:
    """Nodes one after the other: each takes what the last one gave, and arrays."""

    def __init__(self, onnx: Any) -> None:
        self.onnx, self.nodes, self.arrays = onnx, [], []  # type: ignore[var-annotated]
        self.last = ROWS

    def add(self, operator: str, *others: Any, **attributes: Any) -> str:
        """Add a node; another input is an array, or the name of an output."""
        inputs = [self.last]
        for other in others:
            name = other
            if not isinstance(other, str):
                name = f"array{len(self.arrays)}"
                kind = np.int64 if operator == "Gather" else np.float64
                array = np.asarray(other, kind)
                self.arrays.append(self.onnx.numpy_helper.from_array(array, name))
            inputs.append(name)
        self.last = f"{operator.lower()}{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operator, inputs, [self.last], **attributes))
        return self.last

    def model(self, n_columns: int, n_classes: int | None) -> Any:
        """Return the whole, whose output is what the last node gave."""
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        name = PREDICTION
        shape: list[Any] = ["n"]
        if n_classes is not None:
            name, shape = PROBABILITIES, ["n", n_classes]
        self.nodes[-1].output[0] = name
        graph = helper.make_graph(
            self.nodes,
            "rfbench",
            [helper.make_tensor_value_info(ROWS, double, ["n", n_columns])],
            [helper.make_tensor_value_info(name, double, shape)],
            self.arrays,
        )
        opset = [helper.make_opsetid("", OPSET)]
        return helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)


def _parts(estimator: Any) -> Iterator[Any]:
    """Yield the steps of pipelines within pipelines, of frozen models, of a vote of one."""
    if isinstance(estimator, FrozenEstimator):
        yield from _parts(estimator.estimator)
    elif isinstance(estimator, VotingClassifier) and len(estimator.estimators_) == 1:
        yield from _parts(estimator.estimators_[0])
    elif isinstance(estimator, Pipeline):
        for _, step in estimator.steps:
            yield from _parts(step)
    else:
        yield estimator


def _used_columns(preparation: Any) -> list[str]:
    """Return the columns that are left, where they are numbers that nothing is done to."""
    if not isinstance(preparation, Preparation) or not hasattr(preparation, "feature_names_in_"):
        _refuse("sparse rows")
    for note in preparation.notes_:
        if note.done != "constant":
            _refuse(f"the column '{note.column}', which is not of numbers alone ({note.done})")
    names = [str(name) for name in preparation.get_feature_names_out()]
    if any(preparation.kinds_[name] != NUMBER for name in names):
        _refuse("columns that are not numbers")
    return names


def _add(graph: _Graph, part: Any) -> None:
    """Add the nodes of a fitted part."""
    if isinstance(part, StandardScaler):
        graph.add("Sub", part.mean_)
        graph.add("Div", part.scale_)
    elif isinstance(part, SmoothClipScaler):
        graph.add("Sub", part.median_)
        graph.add("Div", part.width_)
        z = graph.add("Clip", -FAR, FAR)
        graph.add("Div", BOUND)
        graph.add("Mul", graph.last)
        graph.add("Add", 1.0)
        root = graph.add("Sqrt")
        graph.last = z
        graph.add("Div", root)
        graph.add("Sub", part.mean_)
        graph.add("Div", part.scale_)
    elif isinstance(part, LearnedMetric):
        graph.add("MatMul", part.transform(np.eye(part.n_features_in_)))  # it is linear
    elif isinstance(part, FeatureRegressor | FeatureClassifier):
        _add_features(graph, part)
    elif isinstance(part, RidgeCV):
        graph.add("MatMul", np.ravel(part.coef_))
        graph.add("Add", part.intercept_)
    else:
        _refuse(f"{type(part).__name__}")


def _add_features(graph: _Graph, part: Any) -> None:
    """Add ridge regression on waves: MatMul, Add, Cos, MatMul, Add; then what the task asks for."""
    waves = part.map_
    if type(waves) is not FeatureMap or waves.feature != "wave":
        _refuse(f"features by {type(waves).__name__}, which are not waves")
    waves = waves.columns_apart()  # sines are shifted cosines
    frequencies = waves.frequencies
    if waves.projection is not None:
        frequencies = waves.projection.explicit()[:, frequencies]
    coef = part.coef_ * waves.scale
    if waves.weights is not None:
        coef = coef * waves.weights[:, None]
    graph.add("MatMul", frequencies)
    graph.add("Add", waves.offsets)
    graph.add("Cos")
    if isinstance(part, FeatureRegressor):
        graph.add("MatMul", coef[:, 0])
        graph.add("Add", part.intercept_[0])
        graph.add("Clip", *part.range_)
        return
    if coef.shape[1] == 1:  # of two classes: the other one's score is the opposite
        coef, intercept = np.hstack([-coef, coef]), np.append(-part.intercept_, part.intercept_)
    else:
        intercept = part.intercept_
    scale, power = part.link
    # softplus(z)^a in proportion, as `rfbench.choosing.parts.linked`: log(1 + e^z) is
    # max(z, 0) + log(1 + e^-|z|); its logarithm is z itself where that has no digits left.
    graph.add("MatMul", scale * coef)
    z = graph.add("Add", scale * intercept)
    graph.add("Abs")
    graph.add("Neg")
    graph.add("Exp")
    graph.add("Add", 1.0)
    rest = graph.add("Log")
    graph.last = z
    graph.add("Max", 0.0)
    graph.add("Add", rest)
    graph.add("Max", np.exp(TAIL))
    near = graph.add("Log")
    graph.last = z
    graph.add("Min", TAIL)
    graph.add("Add", -TAIL)  # 0 from there on: below, the logarithm is z
    graph.add("Add", near)
    graph.add("Mul", power)
    graph.add("Softmax", axis=1)


def _refuse(what: str) -> NoReturn:
    raise DataError(
        f"The model has {what}, which is not written as ONNX here.",
        "Written are numbers without gaps, scaled by mean or smoothly clipped, linear models, "
        "and ridge on waves.",
        "Take `rfbench predict`, or `rfbench choose --no-rows` on columns of numbers.",
    )
