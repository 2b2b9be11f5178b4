"""Forms of claims, data sets, rules and settings in a commit.

A form decides a result: metric, methods, settings, data, sizes, scale, bounds. It contains no
wording, and no names of keys and methods that were only renamed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import yaml

from rfbench import grids, yamlfile
from rfbench.config import matrix
from rfbench.config.schema import Experiment
from rfbench.errors import RfbenchError
from scripts.history.git import Tree

PAPERS, CONFIGS = "rfbench/papers", "configs"
PART = ("items", "datasets", "protocols", "metric", "method", "against", "settings", "along", "at",
        "scale", "low", "high", "values", "against_metric", "against_factor")  # fmt: skip
DEFAULTS = {"protocols": [], "against": [], "settings": {}, "along": "M", "scale": "difference",
            "values": 1, "against_factor": 1}  # fmt: skip
SETS = ("items", "datasets", "protocols", "against")  # lists whose order has no meaning
SOURCE = ("dataset", "n_train", "n_test", "rows")  # keys that identify a paper's own data
# Protocols that were renamed and measure the same.
RENAMED = {"as-run": "matched"}
# Values of `at` that became functions of the paper's claims.py, with the same quantity (commits
# 3b2cd535 and 92d02452).
OWN = ("growth", "slope", "plateau", "equal-time-last")
OVER_OWN_FIT = {"against_metric": "t_fit", "at": "largest"}
# Keys that were added later with a default that differs from the former behavior, with the former
# value.
FORMER = {"features_in_folds": "once"}
WORDING = frozenset(
    {"title", "description", "paper", "item", "protocol", "name", "seed", "timing", "threads",
     "checks", "label", "audit", "metric_name"}
)  # fmt: skip
LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
Forms = Mapping[tuple[str, ...], str]


def frozen(value: Any) -> str:
    """Return a value as text; equal values have equal texts."""
    return json.dumps(value, sort_keys=True, default=str)


def in_papers(tree: Tree, commit: str) -> Forms:
    """Return the forms of claims, data sets and rules by kind, paper and name."""
    forms: dict[tuple[str, ...], str] = {}
    for name, text in tree.files(commit).items():
        folder, _, file = name.removeprefix(f"{PAPERS}/").rpartition("/")
        if "/" in folder or file not in ("claims.yaml", "paper.yaml", "sources.yaml"):
            continue
        forms |= {
            (kind, paper or folder, each): form for kind, paper, each, form in _of_file(file, text)
        }
    return forms


@cache
def _of_file(file: str, text: str) -> tuple[tuple[str, str, str, str], ...]:
    return tuple(_forms_of_file(file, yaml.load(text, Loader=LOADER) or {}))


def _forms_of_file(file: str, content: Any) -> Iterator[tuple[str, str, str, str]]:
    if file == "claims.yaml":
        for claim in content.get("claims", ()):
            yield "claim", claim.get("paper", ""), claim["id"], _of_claim(claim)
    elif file == "sources.yaml":
        for paper, sources in content.get("datasets", {}).items():
            yield from _of_sources(paper, sources)
    else:
        yield from _of_sources("", content.get("datasets", {}))
        for key, value in content.get("provenance", {}).items():
            if isinstance(value, dict):
                for name, each in value.items():
                    yield "rule", "", f"{key}.{name}", frozen(key == "one_finding" or each)
            elif key != "strongest_answer":
                yield "rule", "", key, frozen(value)


def _of_claim(claim: Mapping[str, Any]) -> str:
    parts = []
    for part in claim.get("parts", ()):
        form = {key: part.get(key, DEFAULTS.get(key)) for key in PART}
        over_own_fit = OVER_OWN_FIT.items() <= form.items()
        if form["at"] in OWN or over_own_fit:
            form |= {"at": "own"} | ({"against_metric": None} if over_own_fit else {})
        for key in SETS:
            form[key] = sorted(RENAMED.get(name, name) for name in form[key])
        parts.append({key: value for key, value in form.items() if value != DEFAULTS.get(key)})
    return frozen([parts, claim.get("tolerance")])


def _of_sources(paper: str, sources: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for name, source in sources.items():
        own = {key: source[key] for key in SOURCE if source.get(key)}
        yield "data", paper, name, frozen(own)
        for key, value in (("stand_ins", sorted(source.get("stand_ins", ()))),
                           ("larger_class", source.get("larger_class"))):  # fmt: skip
            if value:
                yield "data", paper, f"{name}.{key}", frozen(value)


@cache
def of_config(text: str, stem: str) -> Mapping[str, tuple[str, Mapping[str, str]]]:
    """Return the runs of a configuration by name: the paper, and the form of each key."""
    try:
        document = yamlfile.parse_yaml(text.encode(), stem)
        runs = matrix.expand_run_matrix(document, stem)
    except (RfbenchError, AttributeError, TypeError):
        return {}
    return {
        renamed(name): (str(run.value.get("paper", "")), dict(_keys(run.value)))
        for name, run in runs.items()
    }


def renamed(run: str) -> str:
    """Return the present name of a run."""
    stem, _, protocol = run.rpartition(".")
    protocol = RENAMED.get(protocol, protocol)
    if stem.startswith("quadrature2018_figure2") and protocol == "matched":
        protocol = "code"  # renamed by c755a77c
    return f"{stem}.{protocol}" if stem else run


def _keys(run: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in run.items():
        if key in WORDING:
            continue
        if key == "samplers":
            for sampler in value:
                name, given = (sampler, {}) if isinstance(sampler, str) else _sampler(sampler)
                label = given.get("label", name)
                yield f"samplers.{label}", frozen(name)
                for word, each in given.items():
                    if word not in WORDING:
                        yield f"samplers.{label}.{word}", _value(each)
        elif key == "solver" and isinstance(value, dict):
            for word, each in value.items():
                yield f"solver.{word}", _value(each)
        else:
            yield key, _value(value)


def _sampler(entry: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    if "name" in entry or "class" in entry:
        return str(entry.get("name", entry.get("class"))), entry
    ((name, given),) = entry.items()
    return name, given or {}


def _value(value: Any) -> str:
    """Return the form of a value; lists in the short grammar are expanded."""
    if isinstance(value, str) and re.fullmatch(r"(log:)?[-+.\de:,\s]+", value):
        try:
            value = grids.expand_grid_text(value)
        except RfbenchError:
            return frozen(value)
        value = value[0] if len(value) == 1 else value
    return frozen(value)


def default_of(key: str) -> str | None:
    """Return the form of a key that a configuration does not have; None if it has no default."""
    if key in FORMER:
        return frozen(FORMER[key])
    field = Experiment.model_fields.get(key)
    if field is None or field.is_required():
        return None
    return frozen(field.get_default(call_default_factory=True))
