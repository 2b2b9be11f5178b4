"""Give the isolated rows of configurations that left the old default of `timing` their identities.

Once: `timing: shared` is gone, and the setting of every trial holds `timing: isolated`. Of a row
`trial_id`, `setting` and `check` change, of a manifest the lists of both and `timing`; every other
cell stays as it is, byte for byte. Rows whose times were shared go: they are measured anew. Run it
from the top of the repository: `python scripts/give_isolated_rows_their_identities.py`.
"""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

from rfbench import datasets
from rfbench.config import from_manifest
from rfbench.experiment import plan
from rfbench.results import manifest as manifests
from rfbench.results.lines import cells_of, fits, with_check

new_digest = plan.digest


def old_digest(value: Any) -> str:
    """Return the identity of before, when the default of `timing` was not part of it."""
    if isinstance(value, dict) and "shared" in value:
        shared = {k: v for k, v in value["shared"].items() if k != "timing"}
        value = {**value, "shared": shared}
    return new_digest(value)


def identities(trial: plan.Trial, digest: Any) -> tuple[str, str]:
    """Return setting and identity of a trial by a digest."""
    with mock.patch.object(plan, "digest", digest):
        fresh = replace(trial)
        return fresh.setting, fresh.id


csv.field_size_limit(1 << 30)
total: dict[str, int] = {"kept": 0, "gone": 0, "unknown": 0}
for file in sorted(Path("results/published").rglob("manifest.json")):
    folder = file.parent
    content = json.loads(file.read_text(encoding="utf-8"))
    configs = [content["config"], *content.get("variants", [])]
    if all(config.get("timing") == "isolated" for config in configs):
        continue
    rows_file = folder / "trials.csv"
    head, *lines = rows_file.read_bytes().rstrip(b"\n").split(b"\n")
    names = cells_of(head)
    rows = [dict(zip(names, cells_of(line), strict=True)) for line in lines]
    assert all(map(fits, lines)), folder

    settings: dict[str, str] = {}
    ids: dict[str, str] = {}
    # Data of the rows need not be on this machine: their hashes stand in the rows.
    for name, hash_ in sorted({(r["dataset"].split("[")[0], r["data_hash"]) for r in rows}):
        for d in sorted({r["d"] for r in rows if r["data_hash"] == hash_}):
            with mock.patch.object(datasets, "data_sha256", return_value=hash_):
                every = [t for c in configs for t in plan.plan(from_manifest(c, folder.name))]
            for trial in every:
                wanted = (trial.dataset.parameters or {}).get("d")
                if trial.dataset.name == name and wanted in (None, int(d)):
                    old, new = identities(trial, old_digest), identities(trial, new_digest)
                    settings[old[0]], ids[old[1]] = new[0], new[1]
    out = [head]
    for row, line in zip(rows, lines, strict=True):
        if row["timing"] == "shared":
            total["gone"] += 1
            continue
        if row["setting"] not in settings:
            total["unknown"] += 1
            out.append(line)
            continue
        setting = settings[row["setting"]]
        own = {"M": int(row["M"]) if row["M"] else None, "number": int(row["trial"])}
        if row["trial_id"] in ids:
            identity = ids[row["trial_id"]]
        else:  # a size or a number that the configuration does not plan
            assert new_digest({"setting": row["setting"], **own}) == row["trial_id"], (folder, row)
            identity = new_digest({"setting": setting, **own})
        changed = {**row, "trial_id": identity, "setting": setting}
        new_line = with_check([changed[name] for name in names if name != "check"])
        back = dict(zip(names, cells_of(new_line), strict=True))
        differ = {n for n in names if back[n] != row[n]}
        assert differ == {"trial_id", "setting", "check"}, folder
        out.append(new_line)
        total["kept"] += 1
    rows_file.write_bytes(b"\n".join(out) + b"\n")
    content.pop("check", None)
    for config in configs:
        config["timing"] = "isolated"
    content["settings"] = [settings.get(each, each) for each in content["settings"]]
    content["trials"] = [ids.get(each, each) for each in content["trials"]]
    manifests.write(folder, content)
    print(f"{folder}: {len(rows)} rows, {len(out) - 1} stay")
print(total)
