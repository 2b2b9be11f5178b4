"""Tables, and the ways in which programs write them."""

import numpy as np
import pandas as pd
from sklearn.datasets import dump_svmlight_file

N = 60


def rooms(n=N, seed=0, words=("Köln", "Kiel", "Ulm")):
    """Return a table of words, dates, gaps, an unlabelled index, an id and decimal numbers."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "id": random.permutation(n) + 100,
            "area": random.normal(60, 9, n).round(3),
            "town": random.choice(words, n),
            "sold": pd.Timestamp("2024-01-31") + pd.to_timedelta(random.integers(0, 99, n), "D"),
            "heated": random.choice(["yes", "no"], n),
        }
    )
    table.loc[::9, "area"] = np.nan
    table.loc[::8, "town"] = None
    return table.assign(price=table["area"].fillna(60) * 2.5 + (table["town"] == "Kiel"))


WRITTEN = {
    "comma": ({}, "utf-8"),
    "semicolon, decimal comma": ({"sep": ";", "decimal": ","}, "utf-8"),
    "tab": ({"sep": "\t"}, "utf-8"),
    "bar": ({"sep": "|"}, "utf-8"),
    "utf-16": ({}, "utf-16"),
    "utf-16 without a mark": ({"sep": ";"}, "utf-16-be"),
    "utf-8 with a mark": ({"sep": ";"}, "utf-8-sig"),
    "latin-1": ({"sep": ";", "decimal": ","}, "latin-1"),
    "german dates": ({"sep": ";", "decimal": ",", "date_format": "%d.%m.%Y"}, "latin-1"),
}


def numbers(n=60, seed=0):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "area": random.uniform(20, 2500, n).round(2),
            "rooms": random.integers(1, 7, n),
            "share": random.uniform(0, 1, n).round(3),
        }
    )
    table.loc[0, ["area", "share"]] = 1024.25, 0.125  # each notation shows itself
    return table.assign(y=(table["area"] / 9 + table["rooms"] - 3 * table["share"]).round(4))


def grouped(mark, decimal, before="", after=""):
    """Write numbers with marks between thousands."""

    def written(value):
        text = f"{value:,.4f}".rstrip("0").rstrip(".").replace(",", "T").replace(".", decimal)
        return f"{before}{text.replace('T', mark)}{after}"

    return written


def text(sep=",", decimal=".", encoding="utf-8", cell=None, suffix=".csv", **options):
    def write(table, path):
        table = table if cell is None else table.map(cell)
        keys = {} if cell else {"decimal": decimal}
        content = table.to_csv(index=False, sep=sep, **keys, **options)
        path = path.with_name(path.name + suffix)
        path.write_bytes(content.encode(encoding))
        return path

    return write


def first(table):
    """Return the columns with the target in front."""
    return table[[*(c for c in table if c == "y"), *(c for c in table if c != "y")]]


def bare(**options):
    return lambda table, path: text(header=False, **options)(first(table), path)


def npy(table, path):
    np.save(path.with_suffix(".npy"), first(table).to_numpy())
    return path.with_suffix(".npy")


def npz(table, path):
    target = {"y": table["y"]} if "y" in table else {}
    np.savez(path.with_suffix(".npz"), X=table.drop(columns="y", errors="ignore"), **target)
    return path.with_suffix(".npz")


def svmlight(zero_based):
    def write(table, path):
        path = path.with_suffix(".svm")
        X = table.drop(columns="y", errors="ignore").to_numpy()
        dump_svmlight_file(X, table.get("y", np.zeros(len(X))), str(path), zero_based=zero_based)
        return path

    return write


def parquet(table, path):
    table.to_parquet(path.with_suffix(".parquet"))
    return path.with_suffix(".parquet")


WAYS = {
    "plain": (text(), "y", {}),
    "semicolon": (text(";"), "y", {}),
    "tab": (text("\t", suffix=".tsv"), "y", {}),
    "tab in a txt": (text("\t", suffix=".txt"), "y", {}),
    "bar": (text("|"), "y", {}),
    "blank": (text(" "), "y", {}),
    "decimal comma": (text(";", ","), "y", {}),
    "tab, decimal comma": (text("\t", ","), "y", {}),
    "quoted decimal comma": (text(",", ",", quoting=1), "y", {}),
    "utf-16": (text(";", ",", encoding="utf-16"), "y", {}),
    "german": (text(";", cell=grouped(".", ",")), "y", {}),
    "english": (text(cell=grouped(",", "."), quoting=1), "y", {}),
    "french": (text(";", cell=grouped("\u202f", ",")), "y", {}),
    "swiss": (text(";", cell=grouped("'", ".")), "y", {}),
    "dollars": (text("\t", cell=grouped(",", ".", "$")), "y", {}),
    "euros": (text(";", cell=grouped(".", ",", after=" €")), "y", {}),
    "no names": (bare(), 0, {"header": False}),
    "no names, decimal comma": (bare(sep=";", decimal=","), 0, {"header": False}),
    "npy": (npy, 0, {}),
    "npz": (npz, None, {}),
    "svmlight": (svmlight(False), None, {}),
    "svmlight from 0": (svmlight(True), None, {}),
    "parquet": (parquet, "y", {}),
}
