"""Write the history.csv of each paper's folder: `python -m scripts.history`."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Mapping

from rfbench.papers.models import Committed
from scripts.history.git import ROOT, NoHistory
from scripts.history.records import History


def list_uncommitted(by_paper: Mapping[str, Iterable[Committed]]) -> list[str]:
    """Return a sentence for each paper with forms that no commit has."""
    counts = {paper: sum(not line.form for line in lines) for paper, lines in by_paper.items()}
    return [
        f"{paper}: {count} lines have no commit yet. Commit the files, then repeat this command."
        for paper, count in counts.items()
        if count
    ]


def main() -> int:
    """Write the files; return 1 if the git history is incomplete."""
    print("The git history is read. This takes one or two minutes.", file=sys.stderr)
    try:
        history = History()
    except NoHistory as error:
        print(f"Nothing is written: {error}.", file=sys.stderr)
        return 1
    by_paper: dict[str, list[Committed]] = {}
    for lines in (history.of_papers(), history.of_settings()):
        for paper, line in lines:
            by_paper.setdefault(paper, []).append(line)
    for paper, every in by_paper.items():
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(Committed.model_fields)
        writer.writerows(line.model_dump().values() for line in every)
        file = ROOT / "rfbench" / "papers" / paper / "history.csv"
        file.write_text(text.getvalue())
        print(f"{file.relative_to(ROOT)}: {len(every)} lines")
    for sentence in list_uncommitted(by_paper):
        print(sentence, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
