"""One audit, run once: against a row whose protocol is known, because we made it."""

import pytest

from rfbench import results
from rfbench.api import read_config
from rfbench.audit.ranking import rank_combinations
from rfbench.experiment import runner
from rfbench.experiment.run_plan import plan_run
from tests.audit.invented import CONFIG, HIDDEN, found, planned, write_paper
from tests.support.papers import read_from


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """A folder with the configuration, the paper, and the results of the audit."""
    home = tmp_path_factory.mktemp("audit")
    path = home / "configs" / "invented.yaml"
    path.parent.mkdir()
    path.write_text(CONFIG)
    hidden = ['paper=""', *(f"{key}={value}" for key, value in HIDDEN.items())]
    experiment = read_config(path, [*hidden, "seed=99", "trials=4", "kernel_error_rows=null"])
    runner.run_plan(plan_run([experiment], home / "hidden"), n_jobs=1)
    rows = results.read_results_folder(home / "hidden").rows
    means = rows[rows["label"] != "control"].groupby(["label", "M"])["error"].mean().to_dict()
    write_paper(home / "papers", means)
    with read_from(home / "papers"):
        audit = planned(home)
        work = plan_run(audit.experiments, found(home), variants=audit.variants)
        runner.run_plan(work, n_jobs=1)
    return home


@pytest.fixture
def invented(home):
    """The same, while the paper is the only one."""
    with read_from(home / "papers"):
        yield home


@pytest.fixture
def ranking(invented):
    """Its table."""
    return rank_combinations(planned(invented), results.read_results_folder(found(invented)))
