"""What is well-formed but cannot run."""

from __future__ import annotations

import itertools
import re
from typing import Any

from rfbench import yamlfile
from rfbench.config.build import sampler_of, solver_of
from rfbench.config.messages import located, where
from rfbench.config.schema import (
    NO_SOLVER,
    BandwidthGrid,
    DatasetSpec,
    Experiment,
    KeptBy,
    SamplerSpec,
)
from rfbench.errors import ConfigError, RfbenchError, nearest
from rfbench.registry import KERNELS, SAMPLERS


def check_combinations(
    experiment: Experiment, document: yamlfile.Document, allow_imports: bool
) -> None:
    """Refuse what is well-formed but cannot run; ConfigError names the line."""
    from rfbench import plugins
    from rfbench.datasets.split import is_given

    tasks = set()
    for spec in experiment.dataset:
        try:
            if spec.code:
                plugins.check_allowed(spec.code, experiment.plugins, allow_imports)
            entry = spec.entry
        except RfbenchError as error:
            raise located(document, ("dataset",), error) from None
        tasks.add("regression" if entry.task == "regression" else "class")
        given = is_given(experiment.split)
        if given and entry.train_rows is None and entry.kind != "synthetic":
            raise ConfigError(
                f"{where(document, ('split',))}: {spec.name} has no given split.",
                "Its rows were published in one piece.",
                "Write `split: {test_size: 0.3}`, say.",
            )
        if entry.sparse and experiment.scaling not in ("none", "/255"):
            raise ConfigError(
                f"{where(document, ('scaling',))}: {spec.name} is sparse and scaling is "
                f"'{experiment.scaling}'.",
                "That would make it dense.",
                "Write `scaling: none`.",
            )
    if len(tasks) > 1:
        raise ConfigError(
            f"{where(document, ('dataset',))}: regression and classification data are mixed.",
            "Their errors cannot stand in one table.",
            "Make two configurations.",
        )
    task = "regression" if tasks == {"regression"} else "classification"
    try:
        if experiment.solver.imported:
            plugins.check_allowed(experiment.solver.name, experiment.plugins, allow_imports)
        if experiment.solver.name == NO_SOLVER and not experiment.kernel_error_rows:
            raise ConfigError(
                "There is neither a solver nor a kernel error to measure.",
                "solver is none, and kernel_error_rows is not set.",
                "Write `kernel_error_rows: 1000`, or name a solver.",
            )
        if experiment.solver.name != NO_SOLVER:
            solver_of(experiment, task=task, random_state=0)
    except RfbenchError as error:
        raise located(document, ("solver",), error) from None
    _check_bandwidths(experiment, document)
    _check_sizes(experiment, document)
    _check_kept_features(experiment, document)
    _check_rows_on_disk(experiment, document, task)
    _check_samplers(experiment, document, allow_imports)


def _check_rows_on_disk(experiment: Experiment, document: yamlfile.Document, task: str) -> None:
    """Refuse a bandwidth and a solver that need all rows in memory where they stay on disk."""
    if not _on_disk(experiment):
        return
    rule, name = experiment.bandwidth, experiment.solver.name
    rules = rule.cv if isinstance(rule, BandwidthGrid) else [rule]
    if any(str(rule).endswith("knn50") for rule in rules):
        raise _needs_memory(document, ("bandwidth",), "knn50", "bandwidth: knn50-sample or median")
    solver = None if name == NO_SOLVER else solver_of(experiment, task=task, random_state=0)
    if not getattr(solver, "streams", False):
        raise _needs_memory(document, ("solver",), f"solver {name}", "solver: ridge")


def _on_disk(experiment: Experiment) -> bool:
    return experiment.rows is None and any(spec.packed for spec in experiment.dataset)


def _needs_memory(
    document: yamlfile.Document, place: tuple[Any, ...], what: str, instead: str
) -> ConfigError:
    return ConfigError(
        f"{where(document, place)}: {what} needs all rows, or all their features, in memory.",
        "Rows of packed data stay on disk and are read block by block.",
        f"Set `rows:` to a number of rows that memory holds, or take another: {instead}.",
    )


def _check_bandwidths(experiment: Experiment, document: yamlfile.Document) -> None:
    """Refuse a choice of the bandwidth where nothing chooses it, or nothing has it."""
    if not isinstance(experiment.bandwidth, BandwidthGrid):
        return
    solver = experiment.solver
    own = [spec.label for spec in experiment.samplers if "bandwidth" in spec.parameters]
    reasons = {
        f"selection is {solver.selection}": solver.selection == "fixed",
        "there is no solver": solver.name == NO_SOLVER,
        f"{solver.name} chooses no penalty": solver.imported,
        "M is kept_by a sampler, which has to have the same bandwidth": isinstance(
            experiment.M, KeptBy
        ),
        f"the kernel {experiment.kernel} has none": not (
            KERNELS.find(experiment.kernel).has_bandwidth
        ),
        f"{', '.join(own)} has one of its own": bool(own),
    }
    for why in (words for words, holds in reasons.items() if holds):
        raise ConfigError(
            f"{where(document, ('bandwidth',))}: the bandwidth cannot be chosen: {why}.",
            "It is chosen with the penalty, on the same rows.",
            "Write `bandwidth: median`, say.",
        )


def _check_sizes(experiment: Experiment, document: yamlfile.Document) -> None:
    size = experiment.M
    if not isinstance(size, KeptBy):
        return
    specs = {spec.label: spec for spec in experiment.samplers}
    if size.kept_by not in specs:
        raise ConfigError(
            f"{where(document, ('M',))}: M is kept_by '{size.kept_by}', which is not "
            f"among the samplers.{nearest(size.kept_by, list(specs))}",
            f"They are {', '.join(specs)}.",
        )
    if not _keeps_some(specs[size.kept_by]):
        raise ConfigError(
            f"{where(document, ('M',))}: {size.kept_by} does not decide how many it keeps.",
            "kept_by names a sampler that does: lkrf.",
        )


def _keeps_some(spec: SamplerSpec) -> bool:
    return bool(not spec.imported and getattr(SAMPLERS.find(spec.name), "keeps_some", False))


def _check_kept_features(experiment: Experiment, document: yamlfile.Document) -> None:
    from rfbench.results.kept_features import MOST_DIMENSIONS

    if not experiment.kept_features:
        return
    place = where(document, ("kept_features",))
    if not any(map(_keeps_some, experiment.samplers)):
        raise ConfigError(
            f"{place}: no sampler of the list decides which features it keeps.",
            "kept.csv is for those that do: lkrf.",
        )
    shapes = {_shape(experiment, spec) for spec in experiment.dataset}
    d = max(columns for _, columns in shapes)
    if d > MOST_DIMENSIONS and KERNELS.find(experiment.kernel).feature != "coordinate":
        raise ConfigError(
            f"{place}: the data have {d} columns, and kept.csv has frequencies of at most "
            f"{MOST_DIMENSIONS} entries.",
            "It would be larger than what it explains.",
            "Leave kept_features out, or take the kernel linear, which keeps coordinates.",
        )


def _check_samplers(
    experiment: Experiment, document: yamlfile.Document, allow_imports: bool
) -> None:
    from rfbench import plugins

    sizes = [1] if isinstance(experiment.M, KeptBy) else sorted(set(experiment.M))
    shapes = {_shape(experiment, spec) for spec in experiment.dataset}
    for position, sampler in enumerate(experiment.samplers):
        try:
            if sampler.imported:
                plugins.check_allowed(sampler.name, experiment.plugins, allow_imports)
            for size, (n, d) in itertools.product(sizes, sorted(shapes)):
                built = sampler_of(experiment, sampler, M=size, d=d, n=n, random_state=0)
        except RfbenchError as error:
            place = _shared_key(error, sampler, document) or ("samplers", position)
            raise located(document, place, error) from None
        if _on_disk(experiment) and getattr(built, "holds_rows", True):
            instead = "score_rows: 10000" if hasattr(built, "score_rows") else "rks"
            raise _needs_memory(document, ("samplers", position), sampler.label, instead)
        if isinstance(experiment.bandwidth, BandwidthGrid) and not hasattr(built, "bandwidth"):
            raise ConfigError(
                f"{where(document, ('samplers', position))}: {sampler.label} has no bandwidth.",
                "So none can be chosen for it.",
                "Write `bandwidth: median`, say.",
            )
        if experiment.solver.name == NO_SOLVER and not getattr(built, "approximates_kernel", False):
            raise ConfigError(
                f"{where(document, ('samplers', position))}: {sampler.label} does not approximate "
                "the kernel, and without a solver there is nothing else to measure.",
                "",
                "Take it out, or name a solver.",
            )


def _shared_key(
    error: RfbenchError, sampler: SamplerSpec, document: yamlfile.Document
) -> tuple[Any, ...]:
    """Return the key, if any, that an error speaks of and that the sampler has from all of them."""
    said = re.findall(r"\w+", error.what)
    for key in ("kernel", "bandwidth", "feature_map"):
        if key in said and key not in sampler.parameters and document.place_of((key,)):
            return (key,)
    return ()


def _shape(experiment: Experiment, spec: DatasetSpec) -> tuple[int, int]:
    """Return about how many training rows and exactly how many columns a data set has."""
    from rfbench.datasets.split import planned_rows

    entry, parameters = spec.entry, spec.parameters
    if entry.kind == "synthetic":
        n, d = parameters.get("n_train", 10_000), parameters.get("d", 2)
        return (n if isinstance(n, int) else 1000), (d if isinstance(d, int) else 2)
    train, _ = planned_rows(entry.rows, entry.train_rows, experiment.split)
    return max(1, min(train, experiment.rows or train)), entry.columns
