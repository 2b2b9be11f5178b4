"""Checks of configurations whose keys and values are valid, but which cannot be run."""

from __future__ import annotations

import itertools
import json
from typing import Any

from rfbench import yamlfile
from rfbench.config.build import describe_method, get_solver_properties, make_sampler, make_solver
from rfbench.config.messages import raise_as_config_error
from rfbench.config.schema import Experiment
from rfbench.config.specs import (
    NO_SOLVER,
    BandwidthGrid,
    CheckSpec,
    DatasetSpec,
    SameSizeAs,
    SamplerSpec,
)
from rfbench.datasets.dataset import check_parameters
from rfbench.datasets.split import is_given_split
from rfbench.errors import ConfigError, make_unknown_error
from rfbench.registry import KERNELS
from rfbench.samplers.elsewhere import SIZES, ForeignFeatures


def check_combinations(experiment: Experiment, document: yamlfile.Document) -> None:
    """Raise ConfigError if the valid values of a configuration cannot be combined.

    The message contains the line. The function reads data sets and builds methods. The permission
    to import their code has to be checked before.
    """
    with raise_as_config_error(document, "paper"):
        _check_paper(experiment)
    for position, check in enumerate(experiment.checks):
        with raise_as_config_error(document, "checks", position):
            _check_statement(experiment, check)
    tasks = set()
    for spec in experiment.dataset:
        with raise_as_config_error(document, "dataset"):
            if not spec.is_user_data:
                check_parameters(spec.entry, spec.parameters)
            tasks.add("regression" if spec.entry.task == "regression" else "classification")
        _check_rows(experiment, spec, document)
    if len(tasks) > 1:
        with raise_as_config_error(document, "dataset"):
            raise ConfigError(
                "the configuration has both regression and classification data.",
                "Their errors cannot be in the same table. Write two configurations.",
            )
    with raise_as_config_error(document, "samplers"):
        _check_that_samplers_differ(experiment)
    with raise_as_config_error(document, "solver"):
        if experiment.solver.name != NO_SOLVER:
            make_solver(experiment, task=tasks.pop(), random_state=0)
        elif not experiment.kernel_error_rows:
            raise ConfigError(
                "The configuration measures nothing: it has neither a solver nor "
                "kernel_error_rows.",
                todo="Write `kernel_error_rows: 1000`, or name a solver.",
            )
    with raise_as_config_error(document, "bandwidth"):
        _check_bandwidths(experiment)
    with raise_as_config_error(document, "M"):
        _check_sizes(experiment)
    with raise_as_config_error(document, "kept_features"):
        _check_kept_features(experiment)
    for key in ("kernel_error_draws", "kernel_error_repeats"):
        if getattr(experiment, key) > 1 and not experiment.kernel_error_rows:
            with raise_as_config_error(document, key):
                raise ConfigError(
                    f"{key} requires kernel_error_rows.", "", "Write both keys, or neither."
                )
    for position, sampler in enumerate(experiment.samplers):
        with raise_as_config_error(document, "samplers", position):
            _check_sampler(experiment, sampler, _built(experiment, sampler))


def _check_paper(experiment: Experiment) -> None:
    from rfbench import papers

    if experiment.paper:
        papers.check_paper_name(experiment.paper)
    if name := experiment.settings_from:
        split = experiment.split if isinstance(experiment.split, dict) else {}
        for spec, sampler in itertools.product(experiment.dataset, experiment.samplers):
            folds = len(papers.read_authors_settings(name, spec.name, sampler.label))
            if not folds or folds != split.get("folds"):
                raise ConfigError(
                    f"The split {experiment.split} does not have the folds of the paper {name}. "
                    f"For {sampler.label} on the data set {spec.name}, the paper has settings for "
                    f"{folds} folds.",
                    "Each trial uses the settings that were selected for its test fold.",
                    "Use samplers and data sets from the file rows.csv of the paper, and its "
                    "number of folds.",
                )


def _check_statement(experiment: Experiment, check: CheckSpec) -> None:
    """Raise ConfigError if a statement in the key ``checks`` applies to no result row.

    The statement is a bound of a numeric column of the results.
    """
    from rfbench.results.schema import SCHEMA, TEXT

    if SCHEMA[check.column].kind == TEXT:
        raise ConfigError(
            f"column {check.column} has no numbers.", "", "Name a column that contains numbers."
        )
    samplers = experiment.samplers
    names = {name for spec in samplers for name in (spec.label, spec.name)}
    if check.sampler is not None and check.sampler not in names:
        raise make_unknown_error("sampler", check.sampler, sorted(names), ConfigError)
    if check.below is None and check.above is None:
        raise ConfigError(
            f"the check of {check.column} does not have a bound.", "", "Write `below: 5`."
        )


def _check_that_samplers_differ(experiment: Experiment) -> None:
    """Raise ConfigError if two samplers of an experiment have the same method and parameters.

    The trials of both samplers would be identical.
    """
    labels: dict[str, str] = {}
    for spec in experiment.samplers:
        given = spec.given and spec.given.identity
        method = json.dumps([spec.name, given, spec.imported, spec.parameters], sort_keys=True)
        if method in labels:
            raise ConfigError(
                f"{labels[method]} and {spec.label} are both {spec.name} with the same parameters.",
                "Trials of the two labels would be identical, so only one label would be measured.",
                "Remove one of the two samplers, or change its parameters.",
            )
        labels[method] = spec.label


def _check_rows(experiment: Experiment, spec: DatasetSpec, document: yamlfile.Document) -> None:
    """Raise ConfigError if a data set does not support the experiment's split or scaling."""
    entry = spec.entry
    with raise_as_config_error(document, "split"):
        given = is_given_split(experiment.split)
        if given and entry.train_rows is None and entry.kind != "synthetic":
            raise ConfigError(
                f"{spec.name} has no predefined split.",
                "The data set was published without a split.",
                "Write for example `split: {test_size: 0.3}`.",
            )
    with raise_as_config_error(document, "scaling"):
        if entry.sparse and experiment.scaling not in ("none", "/255"):
            raise ConfigError(
                f"{spec.name} is sparse and scaling is '{experiment.scaling}'.",
                "This scaling would turn sparse rows into dense rows.",
                "Write `scaling: none`.",
            )


def _check_bandwidths(experiment: Experiment) -> None:
    """Raise ConfigError if there is a grid of bandwidths, but no bandwidth can be selected."""
    rule, solver = experiment.bandwidth, experiment.solver
    if not isinstance(rule, BandwidthGrid):
        return
    own = [
        spec.label
        for spec in experiment.samplers
        if "bandwidth" in spec.parameters and describe_method(spec).is_sampler
    ]
    reasons = {
        f"selection is {solver.selection}": solver.selection == "fixed",
        "there is no solver": solver.name == NO_SOLVER,
        f"{solver.name} does not select a penalty": solver.imported
        and get_solver_properties(experiment)["selection"] == "fixed",
        "the sampler in kept_by has to have the same bandwidth as the other samplers": isinstance(
            experiment.M, SameSizeAs
        ),
        f"the kernel {experiment.kernel} has none": not (
            KERNELS.find(experiment.kernel).has_bandwidth
        ),
        f"{', '.join(own)} has its own bandwidth": bool(own),
    }
    for why in (reason for reason, holds in reasons.items() if holds):
        raise ConfigError(
            f"the bandwidth cannot be selected: {why}.",
            "The bandwidth is selected together with the penalty, on the same rows.",
            "Write for example `bandwidth: median`.",
        )


def _check_sizes(experiment: Experiment) -> None:
    if not isinstance(experiment.M, SameSizeAs):
        return
    kept_by = experiment.M.kept_by
    specs = {spec.label: spec for spec in experiment.samplers}
    if kept_by not in specs:
        raise make_unknown_error("sampler for kept_by called", kept_by, specs, ConfigError)
    if not _keeps_some(specs[kept_by]):
        raise ConfigError(
            f"{kept_by} does not determine the number of features that it keeps.",
            "kept_by requires a sampler that determines this number: lkrf.",
        )


def _keeps_some(spec: SamplerSpec) -> bool:
    return bool(getattr(describe_method(spec).thing, "keeps_some", False))


def _check_kept_features(experiment: Experiment) -> None:
    from rfbench.results.kept_features import MOST_DIMENSIONS

    if not experiment.kept_features:
        return
    if not any(map(_keeps_some, experiment.samplers)):
        raise ConfigError("no sampler selects the features that it keeps.", "", "Use lkrf.")
    d = max(experiment.estimate_shape(spec)[1] for spec in experiment.dataset)
    if d > MOST_DIMENSIONS and KERNELS.find(experiment.kernel).feature != "coordinate":
        raise ConfigError(
            f"the data have {d} columns, but kept.csv has at most {MOST_DIMENSIONS}.",
            todo="Remove kept_features, or use the kernel linear.",
        )


def _built(experiment: Experiment, sampler: SamplerSpec) -> Any:
    """Build a sampler for every number of features and data set, and return the last one."""
    sizes = sorted(size or 1 for size in experiment.sizes)
    shapes = {experiment.estimate_shape(spec) for spec in experiment.dataset}
    for size, (n, d) in itertools.product(sizes, sorted(shapes)):
        built = make_sampler(experiment, sampler, M=size, d=d, n=n, random_state=0)
    return built


def _check_sampler(experiment: Experiment, sampler: SamplerSpec, built: Any) -> None:
    """Raise ConfigError if a built sampler cannot be used in this experiment.

    A sampler without a bandwidth cannot be combined with a grid of bandwidths. Without a solver, a
    sampler has to approximate the kernel.
    """
    has = built.has_bandwidth or not isinstance(built, ForeignFeatures)
    if isinstance(experiment.bandwidth, BandwidthGrid) and not has:
        raise ConfigError(
            f"{sampler.label} has no bandwidth to select.",
            f"It has none of the known parameters for the number of features: {', '.join(SIZES)}.",
            "State the parameter, `NAME: M`, or write for example `bandwidth: median`.",
        )
    if experiment.solver.name == NO_SOLVER and not getattr(built, "approximates_kernel", False):
        raise ConfigError(
            f"{sampler.label} does not approximate the kernel, so there is nothing to "
            "measure without a solver.",
            todo="Remove the sampler, or name a solver.",
        )
