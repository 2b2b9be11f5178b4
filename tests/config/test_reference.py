"""`configs/README.md` has every key of the schema, with its default and what may stand there."""

import json
import re
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from rfbench import bandwidths, config, shipped
from rfbench.config.axes import AXES
from rfbench.config.schema import Experiment
from rfbench.config.specs import CheckSpec, SolverSpec, UserData

PAGE = (shipped.find_configurations_folder() / "README.md").read_text(encoding="utf-8")
# The heading of each table: the model whose fields it lists.
MODELS: dict[str, type[BaseModel]] = {
    "Keys": Experiment,
    "Keys of data of your own, under `dataset`": UserData,
    "Keys of `solver`": SolverSpec,
    "Keys of an entry of `checks`": CheckSpec,
}
INNER = {
    *((Experiment, "name"), (SolverSpec, "imported"), (SolverSpec, "parameters")),
    (SolverSpec, "answers"),
}


def table(heading: str) -> dict[str, list[str]]:
    """Return the values, the default and the meaning of each key below a heading."""
    _, _, section = PAGE.partition(f"\n## {heading}\n")
    lines = re.findall(r"^\| `(.*) \|$", section.partition("\n## ")[0], re.M)
    rows = (re.split(r" (?<!\\)\| ", line) for line in lines)
    return {key.strip("`"): cells for key, *cells in rows}


def default(field: FieldInfo) -> str:
    if field.is_required():
        return "must be given"
    value: Any = field.get_default(call_default_factory=True)
    if isinstance(value, BaseModel):
        return str(value.model_dump()["name"])
    return "none" if value in (None, "", []) else json.dumps(value).strip('[]"')


def words(kind: Any) -> str:
    """Return the words that a type allows; empty where it allows others."""
    if kind is bool:
        return "true, false"
    inside = [part for part in get_args(kind) if part is not type(None)]
    if get_origin(kind) is Literal:
        return ", ".join(map(str, inside))
    return words(inside[0]) if len(inside) == 1 else ""


@pytest.mark.parametrize("heading", MODELS)
def test_configuration_reference_lists_each_key_with_its_default(heading):
    model, found = MODELS[heading], table(heading)
    fields = {key: f for key, f in model.model_fields.items() if (model, key) not in INNER}
    assert list(found) == list(fields)
    for key, (values, said, meaning) in found.items():
        assert said == default(fields[key]), key
        assert words(fields[key].annotation) in ("", values), key
        assert values
        assert meaning


def test_configuration_reference_shows_bandwidth_grid_and_quickstart():
    assert tuple(table("Keys of a file with several runs")) == AXES
    paragraph = " ".join(PAGE.partition("\n### `bandwidth`\n")[2].partition("\n###")[0].split())
    assert ", ".join(bandwidths.BANDWIDTH_GRID) in paragraph
    assert shipped.locate_configuration("quickstart").read_text(encoding="utf-8") in PAGE


def test_table_cells_of_the_reference_have_at_most_25_words():
    """A longer explanation is a paragraph below a heading of its key."""
    lines = [line for line in PAGE.splitlines() if line.startswith("| ")]
    cells = [cell for line in lines for cell in re.split(r" (?<!\\)\| ", line)]
    assert len(cells) > 200
    assert {cell: n for cell in cells if (n := len(cell.split())) > 25} == {}


def test_each_link_of_the_reference_leads_to_a_heading():
    headings = re.findall(r"^#+ (.*)$", PAGE, re.M)
    places = {re.sub(r"[^\w -]", "", text).lower().replace(" ", "-") for text in headings}
    named = re.findall(r"\]\(#([^)]+)\)", PAGE)
    assert len(named) > 10
    assert set(named) <= places


def test_example_of_the_reference_is_a_valid_configuration(tmp_path):
    example = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)[1]
    path = tmp_path / "table1.yaml"
    path.write_text(example)
    runs = {run.name: run for run in config.read_runs(path)}
    assert list(runs) == [
        "table1_eeg.printed", "table1_eeg.tuned", "table1_adult.printed", "table1_adult.tuned",
    ]  # fmt: skip
    assert runs["table1_eeg.printed"].title == "Table 1, EEG, printed"
    assert runs["table1_adult.tuned"].scaling == "none"
    assert runs["table1_adult.tuned"].dataset[0].name == "a9a"
