"""Functions through which rfbench calls its optional component `checking`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rfbench.analysis.verification import Verification
    from rfbench.pages.additions import Addition


def list_commands() -> dict[str, str]:
    """Return a dictionary with the name and the import path of the command `rfbench test`."""
    return {"test": "rfbench.checking.command:test"}


def describe_check(thing: Any, parameters: Mapping[str, Any]) -> str:
    """Return one line of text with the results of the tests of a feature map.

    The line states if the map `thing` has the Gaussian kernel, and lists the failed checks, such as
    different features for equal seeds.
    """
    from rfbench.checking.run import check_feature_map as found_of
    from rfbench.checking.run import describe_kernel_result
    from rfbench.errors import MethodError

    try:
        found = found_of(thing, "gaussian", parameters=parameters, seconds=10.0)
    except MethodError as error:
        return f"not checked: {error.what}"
    said = [describe_kernel_result(*each) for each in found.measured[:1]] or [
        found.why_not or "no kernel"
    ]
    said += [f"not kept: {promise.name}" for promise in found.broken_promises]
    return "checked: " + "; ".join(said)


def render_report_files(verification: Verification, out: Path) -> Addition:
    """Return the page ``maps.md`` about biased feature maps, for a report in the folder `out`.

    The page is removed if the results contain no measurements of feature maps.
    """
    from rfbench.checking import page
    from rfbench.pages.additions import Addition
    from rfbench.pages.formatting import link

    folder = page.find_folder_of_maps(verification.paths)
    if folder is None:
        return Addition({page.PAGE: None})
    look = (
        f"{link(out / page.PAGE, out)} lists public feature maps that are biased, "
        "by how much, and why."
    )
    return Addition({page.PAGE: page.render_maps_page(folder, out)}, look=[look])
