"""Python functions that run experiments and read their results, equivalent to the command line."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rfbench import usable
from rfbench.memory import limit_temporarily
from rfbench.results import Results, reader

if TYPE_CHECKING:
    import pandas as pd

    from rfbench.config.schema import Experiment

log = logging.getLogger(__name__)


class RunResults(Results):
    """Results of an experiment. The function ``print`` shows a table of means over the trials.

    A trial is one repetition of a method on one split of a data set.

    Parameters
    ----------
    folder : Path
        Folder that contains ``trials.csv``.
    name : str
        Name of the experiment.
    rows : DataFrame
        One row per trial, with the columns of `rfbench.results.schema`.
    manifest : dict, default={}
        Content of ``manifest.json``.
    notes : list of str, default=[]
        Messages about rows that were skipped while reading, with the reason.

    See Also
    --------
    run : Measure trials and return their rows.
    read_results : Read the rows of a folder.
    """

    def summary(self, metric: str | None = None) -> pd.DataFrame:
        """Return a table of means over trials, one line per data set, method and size.

        Parameters
        ----------
        metric : str, optional
            Name of a metric in the rows. The default is the metric of the configuration.

        Returns
        -------
        DataFrame
            See `rfbench.summarize`.
        """
        from rfbench.analysis.summary import summarize

        return summarize(self, metric)

    @property
    def failures(self) -> pd.DataFrame:
        """Rows of the failed trials. The column ``message`` contains the reason of each failure."""
        return self.rows[self.rows["status"] != "ok"]

    def __repr__(self) -> str:
        return f"<RunResults {self.name}: {len(self.rows)} trials in {self.folder}>"

    def __str__(self) -> str:
        from rfbench.pages import summary_table

        return summary_table.render_summary_tables(self)


def read_results(folder: str | Path) -> RunResults:
    """Read the results of an experiment from a folder.

    Parameters
    ----------
    folder : str or path
        Folder that contains ``trials.csv``.

    Returns
    -------
    RunResults
        Rows and manifest of the folder.

    Raises
    ------
    ResultsError
        If the folder is not a results folder.
    """
    return RunResults(**vars(reader.read_results_folder(folder)))


def read_config(
    config: Experiment | Mapping[str, Any] | str | Path,
    overrides: Sequence[str] = (),
    *,
    run: str = "",
    name: str = "python",
    allow_imports: bool = False,
) -> Experiment:
    """Read and check the configuration of an experiment.

    Parameters
    ----------
    config : mapping, str or path
        A mapping with the keys that ``configs/README.md`` describes, a YAML file, or the name of a
        configuration that is shipped with rfbench. A checked configuration is returned unchanged.
    overrides : sequence of str
        Strings ``key.path=value`` that change keys of the configuration, as for ``--set``.
    run : str
        Name of the run, if the configuration has several runs.
    name : str
        Name of the results folder, if `config` is a mapping.
    allow_imports : bool
        Whether the configuration may import any class, which runs its code.

    Returns
    -------
    Experiment
        The checked configuration.

    Raises
    ------
    ConfigError
        If a key or a value is invalid. The message has the location of the key, the allowed values
        and the nearest allowed value.
    """
    from rfbench import config as configurations
    from rfbench import yamlfile
    from rfbench.config.schema import Experiment

    if isinstance(config, Experiment):
        return config
    if isinstance(config, Mapping):
        document = yamlfile.Document(_plain(config), "the configuration")
        path, documents = Path(name), configurations.make_run_documents(document, name, overrides)
    else:
        path = Path(config)
        documents = configurations.read_run_documents(path, overrides)
    full, document = configurations.choose_run(path, documents, run)
    return configurations.build_experiment(document, full, allow_imports=allow_imports)


def _plain(value: Any) -> Any:
    """Convert a value to the types of YAML. For example, arrays, ranges and tuples become lists."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple | range):
        return [_plain(part) for part in value]
    if isinstance(value, Path):
        return str(value)
    return value.tolist() if hasattr(value, "tolist") else value


def run(
    config: Experiment | Mapping[str, Any] | str | Path,
    overrides: Sequence[str] = (),
    *,
    run: str = "",
    name: str = "python",
    out: str | Path = "results",
    n_jobs: int | None = None,
    memory: str = "80%",
    timeout: float | None = None,
    retry: Collection[str] = (),
    only: Sequence[str] = (),
    smoke: bool = False,
    fail_fast: bool = False,
    allow_imports: bool = False,
    on_row: Callable[[dict[str, Any]], None] | None = None,
) -> RunResults:
    """Run an experiment, and return its results.

    A trial is one repetition of a method on one split of a data set. Trials that are already in the
    results folder are not repeated. A failed trial has a row with an error message.

    Parameters
    ----------
    config : mapping, str or path
        A mapping with the keys that ``configs/README.md`` describes, a YAML file, or the name of a
        configuration that is shipped with rfbench.
    overrides : sequence of str
        Strings ``key.path=value`` that change keys of the configuration, as for ``--set``.
    run : str
        Name of the run, if the configuration has several runs.
    name : str
        Name of the results folder, if `config` is a mapping.
    out : path
        Folder of the results. The rows are in ``OUT/NAME/trials.csv``, the rows of a smoke run in
        ``OUT/smoke/NAME/trials.csv``.
    n_jobs : int, optional
        Number of worker processes. The default is the number of cores that this process may use.
        Except for times, the rows do not depend on this number. Your own code is an exception if it
        keeps state in its process.
    memory : str
        Memory for all workers: a share of the free memory, such as ``'80%'``, or a number of GiB,
        such as ``'6'``.
    timeout : float, optional
        Longest time of one trial, in seconds.
    retry : collection of {'failed', 'timeout', 'crashed', 'memory'}
        Trials with these statuses are run again.
    only : sequence of str
        Strings ``KEY=VALUE``. Only trials with these values of dataset, sampler, label, M, trial or
        d are run.
    smoke : bool
        Whether to run only one trial on a few rows, as a quick check.
    fail_fast : bool
        Whether to stop after the first failed trial.
    allow_imports : bool
        Whether the configuration may import any class, which runs its code.
    on_row : callable, optional
        Function that is called with each new row.

    Returns
    -------
    RunResults
        All rows of the results folder.

    Raises
    ------
    RfbenchError
        If the configuration is invalid, if data are missing, or if a row cannot be written.
    KeyboardInterrupt
        After Ctrl-C. The running trials are finished first, and all rows are kept.
    """
    from rfbench.experiment import runner
    from rfbench.experiment.run_plan import plan_run
    from rfbench.experiment.worker import Limits, compute_memory_share

    experiment = read_config(config, overrides, run=run, name=name, allow_imports=allow_imports)
    folder = Path(out) / ("smoke" if smoke else "") / experiment.name
    # Limit the memory of this process while the user's own data are read.
    with limit_temporarily(compute_memory_share(memory, 1)):
        plan = plan_run([experiment], folder, smoke=smoke).select(only)
    workers = n_jobs or usable.count_usable_cores()
    summary = runner.run_plan(
        plan,
        n_jobs=workers,
        limits=Limits(compute_memory_share(memory, workers), timeout),
        retry=retry,
        fail_fast=fail_fast,
        on_row=on_row,
    )
    if summary.interrupted:
        raise KeyboardInterrupt
    for message in list(dict.fromkeys(summary.messages))[:5]:
        log.warning("%s", message)
    return read_results(folder)
