"""Fill the columns `role` and `at_chance` of the published rows of the leaderboard, once.

Every other cell stays as it is, byte for byte; the check of a row is made anew. Run it from the top
of the repository: `python scripts/fill_role_and_at_chance.py`.
"""

from pathlib import Path

from rfbench import config, shipped
from rfbench.results.lines import cells_of, encoded, fits, with_check
from rfbench.results.schema import COLUMNS

runs = {n: r for p in shipped.every() for n, r in config.documents(p).items()}
for folder in sorted(Path("results/published").glob("leaderboard*")):
    roles = {s.label: s.role for s in config.from_document(runs[folder.name], folder.name).samplers}
    file = folder / "trials.csv"
    head, *lines = file.read_bytes().rstrip(b"\n").split(b"\n")
    names = cells_of(head)
    out = [encoded(COLUMNS)]
    for line in lines:
        assert fits(line), (folder, line)
        row = dict(zip(names, cells_of(line), strict=True))
        row["role"] = roles[row["label"]]
        row["at_chance"] = (
            "" if row["status"] != "ok" else str("at chance" in row["message"]).lower()
        )
        new = with_check([row.get(name, "") for name in COLUMNS if name != "check"])
        back = dict(zip(COLUMNS, cells_of(new), strict=True))
        assert all(back[name] == row[name] for name in names if name != "check")
        out.append(new)
    file.write_bytes(b"\n".join(out) + b"\n")
    print(folder.name, len(lines), sorted(set(roles.values())))
