"""`configs/README.md` says what the schema says.

`python -m tests.config.test_reference` writes its tables anew, and the quickstart that it shows.
"""

import json
import re
from collections.abc import Sequence
from typing import Any, get_args

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rfbench import config, shipped
from rfbench.config.schema import AXES, CheckSpec, Experiment, OwnData, SolverSpec

PAGE = shipped.folder() / "README.md"
# The heading of each table: the model whose fields it lists.
MODELS: dict[str, type[BaseModel]] = {
    "## Keys": Experiment,
    "## Keys of data of your own, under `dataset`": OwnData,
    "## Keys of `solver`": SolverSpec,
    "## Keys of an entry of `checks`": CheckSpec,
}
HEAD = "| key | values | default | meaning |\n|---|---|---|---|\n"


def render(page: str) -> str:
    """Return the page with its tables and the quickstart as they are now."""
    tables = {heading: rows_of(model) for heading, model in MODELS.items()}
    tables["## Keys of a file with several runs"] = [
        (name, "a mapping", "none", meaning) for name, meaning in AXES.items()
    ]
    for heading, rows in tables.items():
        lines = (" | ".join(cell.replace("|", "\\|") for cell in row[1:]) for row in rows)
        table = HEAD + "".join(
            f"| `{r[0]}` | {line} |\n" for r, line in zip(rows, lines, strict=True)
        )
        found = re.search(rf"^{re.escape(heading)}\n.*?(\| key .*?\n)\n", page, re.M | re.S)
        page = page[: found.start(1)] + table + page[found.end(1) :]
    quickstart = shipped.locate("quickstart").read_text(encoding="utf-8")
    first = re.search(r"```yaml\n(.*?)```", page, re.S)
    return page[: first.start(1)] + quickstart + page[first.end(1) :]


def rows_of(model: type[BaseModel]) -> list[Sequence[str]]:
    return [
        (name, values(field), default(field), field.description)
        for name, field in model.model_fields.items()
        if field.description
    ]


def values(field: FieldInfo) -> str:
    """Return what may stand there: what the field says, or the words that its type allows."""
    if field.examples:
        return str(field.examples[0])
    return "true, false" if field.annotation is bool else ", ".join(get_args(field.annotation))


def default(field: FieldInfo) -> str:
    if field.is_required():
        return "must be given"
    value: Any = field.default
    if isinstance(value, BaseModel):
        return str(value.model_dump()["name"])
    return "none" if value in (None, "", []) else json.dumps(value).strip('[]"')


def test_the_page_is_what_the_schema_says():
    page = PAGE.read_text(encoding="utf-8")
    assert page == render(page)


@pytest.mark.parametrize("model", MODELS.values())
def test_each_key_has_a_meaning_and_values(model):
    inner = {"name", "imported", "parameters"}
    for key, field in model.model_fields.items():
        assert field.description or key in inner
    assert all(all(row) for row in rows_of(model))


def test_its_example_is_a_configuration(tmp_path):
    example = re.findall(r"```yaml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)[1]
    path = tmp_path / "table1.yaml"
    path.write_text(example)
    runs = {run.name: run for run in config.read_all(path)}
    assert list(runs) == [
        "table1_eeg.printed", "table1_eeg.tuned", "table1_adult.printed", "table1_adult.tuned",
    ]  # fmt: skip
    assert runs["table1_eeg.printed"].title == "Table 1, EEG, printed"
    assert runs["table1_adult.tuned"].scaling == "none"
    assert runs["table1_adult.tuned"].dataset[0].name == "a9a"


if __name__ == "__main__":
    PAGE.write_text(render(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
