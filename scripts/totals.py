"""Store the totals of results/ledger.json: `python -m scripts.totals`.

Changed totals are stored only if results/errata.md has a new line.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results"
STORED = RESULTS / "totals.json"
KEPT = ("published", "numbers", "claims", "left out", "holding")  # keys of the ledger


def lines_of(errata: str) -> list[int]:
    """Return the numbers of the lines of the errata, in their order."""
    return [int(number) for number in re.findall(r"^\| (\d+) \|", errata, re.MULTILINE)]


def totals_of(ledger: dict[str, Any]) -> dict[str, Any]:
    """Return the totals in the ledger, with verdicts and classes in sorted order."""
    kept = {name: ledger[name] for name in KEPT}
    for name, value in kept.items():
        if isinstance(value, list):
            kept[name] = sorted(value, key=lambda line: json.dumps(line, sort_keys=True))
    return json.loads(json.dumps(kept, sort_keys=True))


def may_replace(stored: dict[str, Any] | None, new: dict[str, Any]) -> bool:
    """Return True if totals may replace the stored ones: they are equal, or have new errata."""
    return stored is None or stored["totals"] == new["totals"] or new["errata"] > stored["errata"]


def main() -> int:
    """Store the totals; return 1 if the errata have no new line for a change."""
    ledger = json.loads((RESULTS / "ledger.json").read_text())
    errata = lines_of((RESULTS / "errata.md").read_text())
    new = {"errata": len(errata), "totals": totals_of(ledger)}
    stored = json.loads(STORED.read_text()) if STORED.exists() else None
    if not may_replace(stored, new):
        print("Nothing is stored: a total has changed, and results/errata.md has no new line.")
        return 1
    STORED.write_text(json.dumps(new, indent=1) + "\n")
    print(f"results/totals.json: {len(errata)} lines of errata")
    return 0


if __name__ == "__main__":
    sys.exit(main())
