"""What `choose` tries: one data file, and how the leaderboard's facts change it."""

from __future__ import annotations

from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from rfbench import yamlfile
from rfbench.errors import ConfigError
from rfbench.samplers.metric import LEARNT_KERNELS

FILE = "menu.yaml"
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
