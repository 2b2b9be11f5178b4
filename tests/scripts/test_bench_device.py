import sys

import pytest

from scripts.bench import device

pytest.importorskip("torch")


def test_the_tables_are_made_by_torch_on_the_cpu():
    head, rule, *lines = device.lines("torch-cpu", 300, [8, 20], part=100)
    assert [line.split(" | ")[1] for line in lines] == ["float64", "float64", "tf32", "tf32"]
    assert {line.count("|") for line in (head, rule, *lines)} == {9}
    for line in lines:
        numbers = [float(cell.replace(",", "")) for cell in line.strip("| ").split(" | ")[2:7]]
        assert min(numbers) > 0
    _, _, line = device.lines("torch-cpu", 300, [20], 100, folds=0, precisions=["tf32"])
    assert line.startswith("| 20 | tf32 |")
    _, _, first, *_, last = device.precision_lines("torch-cpu", 200, 20)
    assert first.startswith("| 1e-10 |")
    assert last.endswith("| all, all, all |")


def test_without_a_gpu_it_says_that_nothing_was_measured(monkeypatch, capsys):
    import torch

    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(sys, "argv", ["device"])
    device.main()
    assert capsys.readouterr().out.startswith("not measured on an accelerator")
