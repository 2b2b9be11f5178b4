"""Writing the page: facts, template, and the policy that lets nothing be fetched."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Any

import pandas as pd

from rfbench import papers
from rfbench.analysis import verdicts as rules
from rfbench.analysis.frame import Collection, Today
from rfbench.analysis.totals import APART, totals
from rfbench.analysis.verification import Verification, verify_any
from rfbench.errors import writing
from rfbench.pages import first, glossary
from rfbench.pages.html import runs, verdicts
from rfbench.pages.rules import rules as rules_text
from rfbench.pages.templates import bare

FEW_RUNS, MOST_ANSWERS = 3, 6  # that the first screen names
# One letter per verdict, so that colour is never alone.
LETTERS = {
    rules.AGREES: "A",
    rules.CLOSE: "C",
    rules.NOT_CLEAR: "?",
    rules.DIFFERS: "D",
    rules.TOO_NOISY: "n",
    rules.AT_CHANCE: "G",
    rules.HOLDS: "H",
    rules.HOLDS_TESTED: "h",
    rules.DEPENDS: "d",
    rules.IN_PART: "f",
    rules.FAILS: "F",
    rules.CANNOT: "X",
    rules.SHOWN: "S",
    rules.DISPUTED: "!",
    rules.REPEATED: "R",
    rules.NOT_JUDGED: "t",
    rules.NOT_RUN: "·",
}


def mark(verdict: str) -> tuple[str, str]:
    """Return the letter of a verdict and the class of its square."""
    letter = LETTERS[verdict]
    return letter, {"?": "vQ", "·": "vN", "!": "vX"}.get(letter, f"v{letter}")


def write(folders: Sequence[str | Path], file: str | Path, today: Today | None = None) -> Path:
    """Write the page from the results folders at or below some; nothing is run or fetched.

    Raises ResultsError if a path is not there, or no results at all can be read; WriteError if the
    file cannot be written.
    """
    verification, file = verify_any(folders, today=today), Path(file)
    with writing(f"The page cannot be written to {file}", todo="Name another file with --html."):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(page(verification), encoding="utf-8", newline="\n")
    return file


def page(verification: Verification) -> str:
    """Return the page as HTML."""
    collection = verification.selection.collection
    scripts = [_asset("plotly-basic.min.js"), _asset("page.js")]
    data = {
        "runs": runs.facts(collection),
        "papers": _papers(verification),
        "marks": {verdict: mark(verdict) for verdict in LETTERS},
        "judged": [*rules.COMPARED, *APART],
        "rules": _rules(),
    }
    return fill(
        "page.html.j2",
        scripts,
        data=as_json(data),
        collection=collection,
        answers=_answers(verification),
        papers=[papers.paper(name) for name in papers.papers()],
        answer=papers.answer,
        rules=rules_text().replace("\b\n", ""),
        terms=glossary.terms(),
        head=_head(collection),
    )


def fill(template: str, scripts: Sequence[str] = (), **facts: Any) -> str:
    """Fill a template of `assets`, under a policy that runs these scripts and fetches nothing."""
    style = _asset("page.css")
    # plotly makes an empty style element and adds its rules one by one
    styles = [style, ""] if scripts else [style]
    policy = (
        "default-src 'none'",
        *([f"script-src {' '.join(map(_hash, scripts))}"] if scripts else []),
        f"style-src {' '.join(map(_hash, styles))}",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    )
    filled: str = (
        _environment()
        .get_template(template)
        .render(policy="; ".join(policy), style=style, scripts=scripts, **facts)
    )
    return filled


_environment = cache(partial(bare, "rfbench.pages.html", "assets", autoescape=True))


def _head(collection: Collection) -> dict[str, Any]:
    """Return what the head says: titles, configurations, dates, and first answers of few runs."""
    own = collection.experiments
    few = own if len(own) <= FEW_RUNS else ()
    named = [runs.cut(results.config.get("title") or results.name) for results in few]
    return {
        "title": "; ".join(dict.fromkeys(named)) or "Random features, measured",
        "configurations": [runs.cut(results.name) for results in few],
        "dates": sorted({str(r.manifest.get("written") or "")[:10] for r in own} - {""}),
        "answers": [line for r in few for line in first.sentences(collection, r)][:MOST_ANSWERS],
    }


def as_json(data: Any) -> str:
    """Write JSON that no HTML parser can mistake for markup."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _asset(name: str) -> str:
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _papers(verification: Verification) -> dict[str, Any] | None:
    """Return numbers as columns, claims, and the papers; None where no result is of a paper."""
    if verification.empty:
        return None
    gathered = verdicts.gather(verification)
    texts, values = {}, {}
    for name, field in verdicts.NumberVerdict.model_fields.items():
        column = [getattr(number, name) for number in gathered.numbers]
        if field.annotation is str:
            texts[name] = runs.coded(column)
        else:
            values[name] = runs.rounded([float("nan") if v is None else v for v in column])
    return {
        "numbers": texts | values,
        "claims": [claim.model_dump() for claim in gathered.claims],
        "citations": {name: papers.paper(name).citation for name in papers.papers()},
        "about": {name: papers.paper(name).about for name in papers.papers()},
    }


def _rules() -> dict[str, list[str]]:
    """Return the sentences of `rules.txt` by verdict, that on numbers before that on claims."""
    rules: dict[str, list[str]] = {}
    name = ""
    for line in rules_text().splitlines():
        head, _, rest = line.strip().partition(": ")
        if line.startswith("  ") and head in LETTERS:
            name = head
            rules.setdefault(name, []).append(rest)
        elif name and line.startswith("    "):
            rules[name][-1] += " " + line.strip()
        else:
            name = ""
    return rules


def _answers(verification: Verification) -> dict[str, Any]:
    """Return the numbers of the first screen."""
    collection = verification.selection.collection
    total = None if verification.empty else totals(verification)
    rows = collection.rows
    return {
        "totals": total,
        "numbers": _by_protocol(total.by_number, rules.COMPARED) if total else {},
        "claims": _by_protocol(total.by_claim, rules.JUDGED) if total else {},
        "datasets": sorted({str(name) for name in collection.groups["dataset"]}),
        "methods": sorted({str(name) for name in collection.groups["label"]}),
        "protocols": sorted({str(name) for name in collection.groups["protocol"]}),
        "rows": len(rows),
        "failed": int((rows["status"] != "ok").sum()),
        "folders": len(collection.experiments),
        "trials": sorted({int(n) for n in collection.groups["trials"] if n}),
        "machines": sorted(
            {runs.cut(e.machine.get("cpu") or "not recorded") for e in collection.experiments}
        ),
        "versions": sorted({runs.cut(version) for version in rows["version"].unique()}),
    }


def _by_protocol(table: pd.DataFrame, verdicts: Sequence[str]) -> dict[str, list[Any]]:
    """Return each verdict with its number and its mark, of the protocols that have any."""
    marked = {
        str(protocol): [(v, int(line[v]), *mark(v)) for v in verdicts if line[v]]
        for protocol, line in table.iterrows()
    }
    return {protocol: line for protocol, line in marked.items() if line}
