"""What `choose` tries: one data file, and how the leaderboard's facts change it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from rfbench import yamlfile
from rfbench.errors import ConfigError, ResultsError
from rfbench.samplers.metric import LEARNT_KERNELS

FILE = "menu.yaml"
BASE, UNIFORM, TRAINED, STANDARD = "rks", "nystroem", "varpro", "standard"
# The methods of the leaderboard that are landmarks of some kind.
KINDS = {
    "nystroem": "uniform",
    "nystroem-kmeans": "kmeans",
    "nystroem-rpcholesky": "rpcholesky",
    "nystroem-recursive-rls": "recursive-rls",
}

Factors = Annotated[tuple[float, float, float], Field(strict=False)]


def _of_kernels(kernels: dict[str, Any]) -> dict[str, Any]:
    unknown = set(kernels) - set(LEARNT_KERNELS)
    if unknown:
        raise ValueError(f"no kernels of choose: {', '.join(sorted(unknown))}")
    return kernels


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class LandmarkMenu(_Part):
    """Of which kind, and how many."""

    kind: Literal["uniform", "kmeans", "rpcholesky", "recursive-rls"]
    small: Annotated[int, Field(ge=1)]
    middle: Annotated[int, Field(ge=1)]
    largest: Annotated[int, Field(ge=1)]


class Menu(_Part):
    """What `choose` tries; ``menu.yaml`` says what each part means."""

    origin: Annotated[str, Field(min_length=1)]
    scalings: Annotated[list[Literal["rank", "robust"]], Field(min_length=1)]
    kernels: Annotated[dict[str, Factors], Field(min_length=1), AfterValidator(_of_kernels)]
    metrics: list[Literal["diagonal", "full"]]
    rounds: Annotated[int, Field(ge=1)]
    landmarks: LandmarkMenu
    trained: Annotated[int, Field(ge=0)]
    boosting: list[dict[str, float | int]]


@cache
def shipped() -> Menu:
    """Return the menu that comes with rfbench."""
    text = resources.files(__package__).joinpath(FILE).read_bytes()
    return parsed(text, FILE)


def parsed(text: bytes | str, source: str) -> Menu:
    """Return a menu from its YAML; ConfigError names what is wrong."""
    try:
        return Menu.model_validate(yamlfile.parse(text, source).value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{source}: {where}: {first['msg']}.") from None


def made_from(facts: Mapping[str, Any], menu: Menu) -> Menu:
    """Return the menu that the facts of a leaderboard make of another.

    At the largest number of features, by the leaderboard's own rule:

    - landmarks are uniform, which is the cheapest, unless another kind has a smaller error and is
      told apart from them; of several the best;
    - frequencies are trained unless varpro is told apart as worse than the baseline;
    - scalings come in the order of their errors with landmarks, or else with the baseline; one
      goes if what the folds choose is worse with it than without it, by the whole interval, and
      another one stays.

    Parameters
    ----------
    facts : mapping
        The content of ``leaderboard.json``, see `rfbench.analysis.leaderboard.facts`.

    Raises
    ------
    ResultsError
        The facts are none, or of too few data sets to decide.
    """
    try:
        size = facts["sizes"][-1]
        n, needed = size["datasets"], size["needed"]
        if n < needed:
            raise ResultsError(
                f"The leaderboard has {n} data sets, and its rule needs {needed} to name a method.",
                "The menu stays as it is.",
                "Run `rfbench run leaderboard leaderboard_references --trial-by-trial`.",
            )
        against = {line["method"]: line["against"] for line in size["lines"]}
        trained = menu.trained if against.get(TRAINED) != "worse" else 0
        landmarks = menu.landmarks.model_copy(update={"kind": _kind(size)})
        update = {
            "origin": f"The leaderboard of {n} data sets at M = {size['M']}, where it decides "
            f"(scalings, landmarks, trained); else: {_rest(menu.origin)}",
            "scalings": _scalings(facts["preparations"], menu.scalings),
            "landmarks": landmarks,
            "trained": trained,
        }
    except (KeyError, TypeError, IndexError) as error:
        raise ResultsError(
            "These are no facts of a leaderboard.",
            f"{type(error).__name__}: {error}.",
            "Name the leaderboard.json that `rfbench report` writes.",
        ) from error
    return menu.model_copy(update=update)


def _rest(origin: str) -> str:
    """Return where the rest of a menu comes from, which another may have been made of."""
    before, _, after = origin.partition("; else: ")
    return (after or before).strip()


def _kind(size: Mapping[str, Any]) -> Any:
    apart = {(better, worse) for better, worse in size["apart"]}
    order = [line["method"] for line in size["lines"]]  # the smallest error first
    better = [name for name in order if name in KINDS and (name, UNIFORM) in apart]
    return KINDS[better[0] if better else UNIFORM]


def _scalings(preparations: list[Mapping[str, Any]], scalings: list[Any]) -> list[Any]:
    for method in (UNIFORM, BASE):
        measured = {
            (each["M"], each["scaling"]): each
            for each in preparations
            if each["method"] == method and each["scaling"] in scalings
        }
        if measured:
            break
    else:
        return scalings
    largest = max(M for M, _ in measured)
    ratios = {scaling: line for (M, scaling), line in measured.items() if largest == M}
    alone = {name: each["interval"]["ratio"] for name, each in ratios.items()}
    order = sorted(scalings, key=lambda name: alone.get(name, 1.0))
    kept = [name for name in order if name not in ratios or ratios[name]["choice"]["low"] <= 1.0]
    return kept or order[:1]


def text(menu: Menu) -> str:
    """Return a menu as YAML, with the comment that says where it comes from."""
    head = (
        "# What `rfbench choose` tries, written by `rfbench menu` from a leaderboard's facts.\n\n"
    )
    content = menu.model_dump(mode="json")
    return head + yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=96)
