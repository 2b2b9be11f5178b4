"""Generated tables whose parts have other columns than the whole, with their targets."""

import numpy as np
import pandas as pd

LONG = "a text of many words that is different in each row, number "


def numbers(random, n):
    return pd.DataFrame(random.standard_normal((n, 3)), columns=list("abc"))


def one_gap(random, n):
    table = numbers(random, n)
    table.loc[random.integers(n), "c"] = np.nan
    return table


def gaps_everywhere(random, n):
    table = numbers(random, n)
    table["w"] = random.choice(["u", "v"], n)
    return table.mask(random.random(table.shape) < random.choice([0.05, 0.5, 0.95]))


def near_constant(random, n):
    table = numbers(random, n).assign(k=0, word="same")
    rows = random.integers(n, size=2)
    table.loc[rows, "k"], table.loc[rows[0], "word"] = 7, "other"
    return table


def only_categories(random, n):
    shares = [0.4, 0.3, 0.2, 0.07, 0.02, 0.01]
    return pd.DataFrame({f"w{j}": random.choice([*"uvwxyz"], n, p=shares) for j in range(4)})


def a_rare_category_per_fold(random, n):
    words = random.choice(["u", "v"], n)
    for place, word in enumerate(random.permutation(n)[:6]):
        words[word] = "xyzxyz"[place]
    return numbers(random, n).assign(w=words)


def one_column(random, n):
    return numbers(random, n)[["a"]]


def rows_20(random, n):
    return gaps_everywhere(random, 20).assign(a=np.arange(20) + 0.5)


def rows_5000(random, n):
    return one_gap(random, 5000)


def dates(random, n):
    days = pd.Series(pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 2, n), "D"))
    days[random.random(n) < 0.02] = pd.NaT
    return numbers(random, n).assign(day=days.dt.strftime("%d.%m.%Y"))


def long_texts(random, n):
    texts = [LONG + str(i % max(2, n - 5)) for i in range(n)]
    return numbers(random, n).assign(text=texts)


KINDS = (
    one_gap, gaps_everywhere, near_constant, only_categories, a_rare_category_per_fold,
    one_column, rows_20, rows_5000, dates, long_texts,
)  # fmt: skip


def generated(kind, seed):
    """Return a table of some kind and its target: numbers, classes, or 3 rows of a class."""
    random = np.random.default_rng([seed, KINDS.index(kind)])
    table = kind(random, int(random.integers(40, 120)))
    n = len(table)
    if seed % 3 == 0:
        return table, random.standard_normal(n)
    y = random.choice(["yes", "no"], n)
    if seed % 3 == 1:
        y[:] = "no"
        y[random.permutation(n)[:3]] = "yes"
    return table, y
