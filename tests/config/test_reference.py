"""`configs/README.md` says what the schema says.

`python -m tests.config.test_reference` writes it anew.
"""

import pytest

from rfbench import config, shipped
from rfbench.config import reference
from rfbench.config.schema import AXES, CheckSpec, Experiment, OwnData, SolverSpec

PAGE = shipped.folder() / "README.md"


def test_the_page_is_what_the_schema_says():
    assert PAGE.read_text(encoding="utf-8") == reference.render()


@pytest.mark.parametrize("model", [Experiment, SolverSpec, CheckSpec, OwnData])
def test_each_key_has_a_meaning_and_values(model):
    inner = {"name", "imported", "parameters"}
    fields = {k: f for k, f in model.model_fields.items() if f.description or k not in inner}
    lines = reference.render().splitlines()
    for key, field in fields.items():
        assert field.description
        found = [line.split(" | ") for line in lines if line.startswith(f"| `{key}` |")]
        assert found
        assert all(len(cells) == 4 and all(cells) for cells in found)
    assert all(any(line.startswith(f"| `{key}` |") for line in lines) for key in AXES)


def test_its_example_is_a_configuration(tmp_path):
    path = tmp_path / "table1.yaml"
    path.write_text(reference.EXAMPLE)
    runs = {run.name: run for run in config.read_all(path)}
    assert list(runs) == [
        "table1_eeg.printed", "table1_eeg.tuned", "table1_adult.printed", "table1_adult.tuned",
    ]  # fmt: skip
    assert runs["table1_eeg.printed"].title == "Table 1, EEG, printed"
    assert runs["table1_adult.tuned"].scaling == "none"
    assert runs["table1_adult.tuned"].dataset[0].name == "a9a"


if __name__ == "__main__":
    PAGE.write_text(reference.render(), encoding="utf-8")
