"""The page of a paper: our result, and tables of the paper's numbers, settings and claims."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rfbench import papers, shipped, slices
from rfbench.analysis import chance, committed, verdict_counts
from rfbench.analysis.outcomes import Outcome
from rfbench.analysis.verification import Verification
from rfbench.escaping import Markdown
from rfbench.pages import authors_rows, claims, index_page, paper_figure, paper_numbers
from rfbench.pages.formatting import count, format_span, format_spread, join_names, link
from rfbench.pages.grids import Grid
from rfbench.pages.paper_numbers import find_settings_label
from rfbench.pages.templates import render_template
from rfbench.papers.models import PERCENT

NUMBERS_FILE, CLAIMS_FILE = "{}_numbers.csv", "{}_claims.csv"
COMMIT_WORDS = {"before": "before", "same commit": "with", "after": "after"}
READINGS_HEAD = ("not stated by the paper", "our interpretation")
# Largest number of configuration keys that the page lists for each protocol. All keys are in the
# file history.csv. The value was chosen without a measurement. With twice this value, a list has up
# to 14 keys.
MAX_KEYS = 7
# Maps each source of our settings to a phrase for use within a sentence.
SETTINGS_PHRASES = {
    "as printed": "with the settings as printed",
    "as cited": "with the definition that the paper cites",
    "corrected": "with corrected settings",
    "authors' code": "with the settings of the authors' code",
    "tuned to match": "with settings tuned to match the paper's numbers",
    "tuned to match, corrected": "with tuned settings that were corrected later",
}

# Clause for each reason why a comparison of a claim is inconclusive.
UNDECIDED_REASONS = {
    chance.CHANCE: "no method is clearly more accurate than the majority class",
    chance.NOTHING_LEARNED: "no method predicts clearly better than the mean of the target",
    chance.CONSTANT: "the kernel matrix is nearly constant",
}


def render_paper_page(
    verification: Verification,
    name: str,
    out: Path,
    added: str = "",
    picture: bytes | None = None,
) -> str:
    """Return the page of the paper `name` as Markdown.

    Links on the page are relative to the folder `out`. `added` is Markdown text from optional
    components. `picture` is the figure of the paper as PNG, or None if the paper has no figure.
    """
    own, pictured = verification.select_papers(name), picture is not None
    sentences = _write_counts(own, link(out.parent / "glossary.md", out, "compared"))
    facts: dict[str, Any] = {"added": Markdown(added), "pictured": pictured}
    facts["sentences"] = sentences
    facts["curves"] = pictured and paper_figure.has_curves(own)
    return render_template("paper.md.j2", out=out, **facts, **gather_paper_facts(own, name))


def render_paper_figure(verification: Verification, name: str) -> bytes | None:
    """Return the figure of the paper `name` as PNG.

    The figure compares published numbers with our numbers. The result is None if there are no such
    numbers.
    """
    return paper_figure.render_numbers_png(verification.select_papers(name))


def render_csv_files(verification: Verification, name: str) -> dict[str, str | None]:
    """Return the content of the two CSV files of a paper: its numbers and its claims.

    The result maps a file name to the content. The content is None if a file would have no lines.
    """
    own = verification.select_papers(name)
    numbers = paper_numbers.render_authors_csv(own) or paper_numbers.render_numbers_csv(
        own, slices.call_hooks("make_numbers_column", own)
    )
    return dict(
        zip(
            list_csv_files(name),
            (numbers, claims.render_comparisons_csv(own.outcomes)),
            strict=True,
        )
    )


def list_csv_files(name: str) -> tuple[str, str]:
    """Return the names of the two CSV files of a paper: its numbers and its claims."""
    return NUMBERS_FILE.format(name), CLAIMS_FILE.format(name)


def gather_slice_texts(verification: Verification, out: Path) -> dict[str, str]:
    """Return the Markdown text that optional components add to the page of each paper.

    The result maps the name of a paper to the text. Links are relative to the folder `out`.
    """
    added: dict[str, str] = {}
    for texts in slices.call_hooks("describe_papers", verification, out):
        for name, text in texts.items():
            added[name] = added.get(name, "") + text
    return added


def gather_paper_facts(own: Verification, name: str) -> dict[str, Any]:
    """Return the values for the Jinja template of a paper's page.

    `own` has the comparisons of the paper `name`, without comparisons of other papers.
    """
    collection = own.selection.collection
    paper = papers.find_paper(name)
    compared = paper_numbers.select_compared_numbers(own)
    runs = [run for run in collection.experiments if run.config.get("paper") == name]
    of_rows = [run for run in runs if "audits" not in run.folder.parts]
    folds = next(iter(authors_rows.count_agreeing_folds(own.authors)), None)
    return {
        "paper": paper,
        "outside": papers.find_paper_files(name).is_external,
        "readings": Grid(READINGS_HEAD, [list(each) for each in paper.readings.items()]),
        "about": paper.about.partition(";")[0],
        "folds": folds,
        "result": paper.result.format_map(_Filled(own)),
        "totals": paper_numbers.make_verdict_counts_grid(own),
        "not_compared": paper_numbers.list_reasons_for_no_comparison(own),
        "left_out": verdict_counts.list_left_out_numbers(own),
        "why": index_page.WHY_LEFT,
        "settings_label": find_settings_label,
        "counted_claims": claims.count_claim_verdicts(own.outcomes),
        "holding": [
            outcome for outcome in own.outcomes if verdict_counts.is_counted_as_holding(outcome)
        ],
        "label": lambda outcome: find_settings_label(
            papers.find_settings_class(outcome.claim.paper, outcome.protocol)
        ),
        "name": papers.format_claim_name,
        "numbers": paper_numbers.make_compared_numbers_grids(own),
        "each": compared["number"].nunique() <= paper_numbers.MAX_NUMBERS,
        "measures": join_names(compared["metric"].unique()),
        "percent": bool((compared["unit"] == PERCENT).any()),
        "trials": format_span(compared["trials"].min(), compared["trials"].max())
        if len(compared)
        else "",
        "spreads": {
            papers.list_published_numbers()[i].spread_kind for i in compared["number"].unique()
        }
        - {""},
        "other_names": paper_numbers.list_differing_method_names(own),
        "best": bool((compared["M"] == "best").any()),
        "at_chance": compared[compared["at_chance"]].groupby("settings", sort=False).size(),
        "authors": paper_numbers.make_authors_grids(own.authors),
        "committed": _list_order(name),
        "added_trials": _group_added(own, name),
        "claims": claims.make_claims_grid(own.outcomes),
        "differing": claims.list_differing_data_sets(own.outcomes),
        "without": _list_without(own.outcomes),
        "undecided_reasons": UNDECIDED_REASONS,
        "inconclusive": list(dict.fromkeys(each for o in own.outcomes for each in o.undecided)),
        "runs": runs,
        "configurations": _list_configurations(name),
        "folders": list(dict.fromkeys(run.folder.parent for run in of_rows or runs)),
        "numbers_file": NUMBERS_FILE.format(name),
        "claims_file": CLAIMS_FILE.format(name),
        "has_claims": any(outcome.comparisons for outcome in own.outcomes),
        "has_numbers": bool(own.authors) or bool((own.numbers["trials"] > 0).any()),
    }


def _write_counts(own: Verification, compared: Markdown) -> Markdown:
    """Return sentences that count the published numbers that agree with ours or are close.

    The text has one sentence for each source of our settings, such as the authors' code. `compared`
    is a link to the glossary with the text "compared".
    """
    restored = verdict_counts.count_numbers_including_removed(own)
    clauses: list[str] = []
    for each in sorted(
        verdict_counts.count_published_numbers(own), key=lambda each: -each.n_compared
    ):
        phrase = SETTINGS_PHRASES.get(label := find_settings_label(each.of[1]), label)
        near = f"**{each.n_agreeing_or_close} of {each.n_compared}**"
        first, kind = phrase, f"{compared} published"
        if clauses:
            first, kind = f"{phrase[0].upper()}{phrase[1:]}", "published"
        text = f"{first}, {near} {kind} numbers agree with our numbers or are close"
        text += f" ({_write_others(each)})"
        every = restored[each.of]
        if every.n_compared != each.n_compared:
            text += (
                ". If the numbers that were removed after results were known still counted, "
                f"{every.n_agreeing_or_close} of {every.n_compared} numbers would agree or be "
                f"close ({_write_others(every)})"
            )
        clauses.append(text)
    if not clauses:
        return Markdown("")
    items = paper_numbers.join_items(paper_numbers.select_compared_numbers(own)["item"])
    return Markdown(f"In {items}, {'. '.join(clauses)}.")


def _write_others(each: verdict_counts.Count) -> str:
    """Return a text such as ``1 number is undecided, 2 numbers differ``."""
    undecided = count(each["undecided"], "number is undecided", "numbers are undecided")
    return f"{undecided}, {count(each['differs'], 'number differs', 'numbers differ')}"


def _list_without(outcomes: Sequence[Outcome]) -> list[str]:
    """Return the names of the data sets on which we cannot test any claim of a paper."""
    judged = [each for each in outcomes if each.claim.is_judged and each.protocol]
    missing = dict.fromkeys(name for each in judged for name in each.missing)
    compared = {one.target for each in judged for one in each.comparisons}
    return [name for name in missing if name not in compared]


class _Filled(dict[str, str]):
    """Values for the placeholders ``{ID}`` and ``{ID mean}`` in the text `Paper.result`.

    ID is the identifier of a claim. ``{ID}`` is replaced by the number of comparisons that support
    the claim. ``{ID mean}`` is replaced by the mean effects of the claim.
    """

    def __init__(self, own: Verification) -> None:
        super().__init__()
        self.own = own

    def __missing__(self, key: str) -> str:
        name, _, asked = key.partition(" ")
        outcomes = [o for o in self.own.outcomes if o.claim.id == name and o.comparisons]
        if not outcomes:
            return "none"
        if asked:
            return _average(outcomes[0])
        n = count(len(outcomes[0].comparisons), "comparison")
        return f"{outcomes[0].n_inside_bounds} of {n}"


def _average(outcome: Outcome) -> str:
    """Return the mean effects of a claim as text, one mean for each number of features.

    A mean is computed over the data sets. The smallest number of features is first. Only the first
    part of the claim is used.
    """
    part = outcome.claim.parts[0]
    by_data: dict[tuple[str, str], list[Any]] = {}
    for one in outcome.comparisons:
        if one.part == 0:
            by_data.setdefault((one.dataset, one.against), []).append(one)
    ordered = [sorted(every, key=lambda one: float(one.x or 0)) for every in by_data.values()]
    written = []
    for here in zip(*ordered, strict=False):
        effects = np.array([one.effect for one in here])
        if part.scale == "ratio":
            written.append(f"{math.exp(np.log(effects).mean()):.2f}")
            continue
        error = math.sqrt(sum(one.spread**2 / one.trials for one in here)) / len(here)
        written.append(format_spread(effects.mean(), error))
    return join_names(written)


def _list_order(name: str) -> list[str]:
    """Return sentences that describe when the settings of a paper's runs were committed to git.

    Each sentence counts the configuration keys that were committed before, with and after the first
    result rows. There is one sentence for each source of the settings.
    """
    lines = []
    for each in committed.list_settings_by_protocol(name):
        groups = list(dict.fromkeys(f"`{'.'.join(key.split('.')[:2])}`" for key in each.later))
        more = len(groups) - MAX_KEYS
        listed = join_names(groups[:MAX_KEYS]) + (f" and {more} more" if more > 0 else "")
        counts = [
            (each.counts[order], word) for order, word in COMMIT_WORDS.items() if each.counts[order]
        ]
        named, owner = "In runs whose names contain no settings", ""
        if each.protocol:
            named, owner = f"With the settings `{each.protocol}`", f" of `{each.protocol}`"
        (n, word), *rest = counts
        were = count(n, "configuration key was", "configuration keys were")
        first = f"{were} committed {word} the first result rows"
        *parts, last = [first, *(f"{count(n, 'key')} {word} these rows" for n, word in rest)]
        text = f"{named}, {' and '.join([*filter(None, [', '.join(parts)]), last])}"
        if groups:
            later = f"keys{owner} that were committed after the rows are"
            if len(groups) == 1:
                later = f"key{owner} that was committed after the rows is"
            text += f". The {later} {listed}"
        lines.append(f"{text}.")
    return lines


def _list_configurations(name: str) -> list[str]:
    """Return the names of the configurations in rfbench that belong to the paper `name`."""
    names = [file.name.removesuffix(".yaml") for file in shipped.list_configurations()]
    return [each for each in names if each.startswith(f"{name}_")]


def _group_added(own: Verification, name: str) -> list[str]:
    """Return texts that list the trials that were added to runs after results had been seen.

    There is a text for each run, number of features and number of added trials.
    """
    groups: dict[tuple[str, Any, int], list[str]] = {}
    for line in verdict_counts.tabulate_added_trials(own.selection.collection):
        if line["paper"] == name:
            key = (line["experiment"], line["M"], line["added"])
            groups.setdefault(key, []).append(line["method"])
    texts = []
    for (run, M, n), methods in groups.items():
        *others, last = methods
        named = f"the method {last}"
        if others:
            named = f"each of the methods {join_names(others)} and {last}"
        texts.append(f"{count(n, 'trial')} of {named} at M = {M} in the run {run}")
    return texts
