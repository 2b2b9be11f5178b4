"""Command `rfbench test`, which tests a feature map against the kernel that it claims."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rfbench.cli.options import make_setting_option, parse_parameter
from rfbench.cli.terminal import echo, print_table

if TYPE_CHECKING:
    from rfbench.checking.run import Report


@click.command("test", short_help="Test whether a feature map has the kernel that it claims.")
@click.argument("path", metavar="TARGET")
@click.option("--kernel", metavar="NAME", help="Kernel to test against.")
@click.option(
    "--bandwidth", type=click.FloatRange(min=0, min_open=True), help="Bandwidth of the kernel."
)
@make_setting_option(
    "parameters",
    "NAME=VALUE",
    "A parameter of TARGET, such as gamma",
    option="--parameter",
    type=parse_parameter,
)
@click.option(
    "--within",
    type=click.FloatRange(min=0, min_open=True),
    metavar="ERROR",
    help="Relative kernel error for which the number of features is estimated.",
)
@click.option("--allow-imports", is_flag=True, help="Import TARGET, which runs its code.")
def test(
    path: str,
    kernel: str | None,
    bandwidth: float | None,
    parameters: tuple[tuple[str, Any], ...],
    within: float | None,
    allow_imports: bool,
) -> None:
    """Test whether a map of random features has the kernel that it claims.

    TARGET is a name of `rfbench list samplers`, FILE.PY:NAME or package.module.Name: a sampler, a
    transformer with scikit-learn's interface, or a function f(X, M, seed) that returns the features
    of rows. The test measures bias and error over about 2,800 seeds, in at most 60 s of CPU per
    kernel. It checks the promises of every map: same seed, pickling, sparse rows, float32. The
    result for each kernel is printed first, with the likely cause of a bias. The exit code is 1
    if a check fails, and 2 for wrong usage. If the features are the same for every seed, only a
    large error is a fault. Use rfbench.checking.check_map for the same checks in your own tests.

    --within prints the number of features that is needed for a relative kernel error. It measures
    the error (Frobenius norm, 60 rows of data) over 199 seeds.

    NAME is a kernel of `rfbench list kernels`, matern32, matern52, softmax or polynomial.

    \b
    Examples:
        rfbench test mine.py:Antithetic --allow-imports
        rfbench test mine.py:Pooled --parameter pool_size=30 --allow-imports
        rfbench test sklearn.kernel_approximation.RBFSampler --parameter gamma=0.1
        rfbench test rks --kernel gaussian --within 0.05
    """
    from rfbench import plugins
    from rfbench.checking.run import check_feature_map
    from rfbench.parameters import is_path
    from rfbench.permissions import check_permission
    from rfbench.registry import SAMPLERS

    options = dict(parameters)
    if is_path(path):
        check_permission(path, options, anything=allow_imports)
        thing = plugins.load_object(path)
    else:
        thing = SAMPLERS.find(path)
    report = check_feature_map(thing, kernel, bandwidth, options)
    _say(path, report, within)
    if report.wrong_kernels or report.broken_promises:
        raise click.exceptions.Exit(1)


def _say(path: str, report: Report, within: float | None) -> None:
    from rfbench.checking.enough import describe_enough
    from rfbench.checking.run import (
        PAIRS_HEAD,
        describe_kernel_result,
        describe_measurement,
        list_causes_of_bias,
        tabulate_row_pairs,
    )

    for each in report.measured:
        right = each not in report.wrong_kernels
        mark, color = ("yes", "green") if right else ("NO", "red")
        echo(describe_kernel_result(*each), mark=f"{mark:5}", color=color)
        for line in describe_enough(*each, within) if within else ():
            echo(f"     {line}")
    for _, found in report.measured[:1]:
        for line in list_causes_of_bias(found):
            echo(f"     {line}")
        echo("")
        print_table(tabulate_row_pairs(found), PAIRS_HEAD, {1, 2, 3, 4})
        for line in describe_measurement(found):
            echo(line)
    if report.reading:
        echo(report.reading)
    if report.why_not:
        echo(f"No kernel is measured: {report.why_not}.")
    for promise in report.broken_promises:
        echo(str(promise), mark=f"{'FAILED':8}")
    kept = len(report.promises) - len(report.broken_promises)
    echo(f"{path}: {kept} of {len(report.promises)} promises are kept")
