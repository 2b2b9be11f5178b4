"""What is well-formed but cannot run."""

from __future__ import annotations

from rfbench import yamlfile
from rfbench.config.messages import located, where
from rfbench.config.schema import NO_SOLVER, Experiment, KeptBy
from rfbench.errors import ConfigError, RfbenchError, nearest


def check_combinations(
    experiment: Experiment, document: yamlfile.Document, allow_imports: bool
) -> None:
    """Refuse what is well-formed but cannot run; ConfigError names the line."""
    from rfbench import datasets, plugins
    from rfbench.experiment.methods import build_sampler, build_solver

    tasks = set()
    for spec in experiment.dataset:
        try:
            entry = datasets.entry(spec.name)
        except RfbenchError as error:
            raise located(document, ("dataset",), error) from None
        tasks.add("regression" if entry.task == "regression" else "class")
        if experiment.split == "given" and entry.train_rows is None and entry.kind != "synthetic":
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
        if experiment.solver.name != NO_SOLVER:
            build_solver(experiment, task=task, random_state=0)
    except RfbenchError as error:
        raise located(document, ("solver",), error) from None
    labels = [spec.label for spec in experiment.samplers]
    if isinstance(experiment.M, KeptBy):
        sizes = [1]
        if experiment.M.kept_by not in labels:
            raise ConfigError(
                f"{where(document, ('M',))}: M is kept_by '{experiment.M.kept_by}', which is not "
                f"among the samplers.{nearest(experiment.M.kept_by, labels)}",
                f"They are {', '.join(labels)}.",
            )
    else:
        sizes = sorted({min(experiment.M), max(experiment.M)})
    for position, sampler in enumerate(experiment.samplers):
        for size in sizes:
            try:
                if sampler.imported:
                    plugins.check_allowed(sampler.name, experiment.plugins, allow_imports)
                build_sampler(experiment, sampler, M=size, d=2, n=1000, random_state=0)
            except RfbenchError as error:
                raise located(document, ("samplers", position), error) from None
