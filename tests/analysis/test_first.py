"""What a run says first."""

import math
from typing import Any

from rfbench.analysis.first import answers
from rfbench.analysis.frame import of
from rfbench.analysis.naming import shown_name
from rfbench.analysis.summary import summarise
from rfbench.pages.first import sentences
from rfbench.results import Results
from tests.support.frames import results


def run(values: dict[str, list[float]], **facts: Any) -> Results:
    """Return results at M = 50 and 200; the errors at 200 are half as large."""
    rows = [
        {"sampler": name, "M": M, "trial": t, "error": value / (1 + (M == 200)), **facts}
        for name, errors in values.items()
        for M in (50, 200)
        for t, value in enumerate(errors)
    ]
    return results(rows)


def test_the_best_stands_beside_plain_features_of_its_size() -> None:
    read = run({"rks": [40.0, 41.0, 42.5], "nystroem": [20.0, 21.0, 22.0]})
    (answer,) = answers(of([read]), read)
    assert (answer.best.method, answer.best.M, answer.best.mean) == ("nystroem", 200, 10.5)
    assert answer.plain == (40.0 + 41.0 + 42.5) / 6
    assert answer.second is not None
    assert (answer.second.method, answer.apart) == ("rks", True)
    (text,) = sentences(of([read]), read)
    assert text == "test error (%): nystroem with 200 features: 10.50 ± 0.29 (20.6 plain), 2 s."


def test_what_pairs_do_not_tell_apart_is_not_named_best() -> None:
    read = run({"rks": [20.0, 30.0, 40.0], "orf": [30.0, 40.0, 19.0]})
    (answer,) = answers(of([read]), read)
    assert answer.apart is False
    (text,) = sentences(of([read]), read)
    assert "orf with 200 features" in text
    assert "rks with 200 features" in text
    assert text.endswith("cannot be told apart.")


def test_one_trial_one_method_and_none() -> None:
    single = run({"rks": [20.0], "orf": [30.0]})
    assert [answer.apart for answer in answers(of([single]), single)] == [None]
    assert sentences(of([single]), single)[0].endswith("one trial tells no methods apart.")
    alone = run({"rks": [20.0, 21.0]})
    (answer,) = answers(of([alone]), alone)
    assert answer.second is None
    assert math.isnan(answer.plain)
    failed = run({"rks": [20.0]}, status="memory", error="")
    assert answers(of([failed]), failed) == []


def test_every_data_set_has_a_sentence_and_a_smoke_run_none() -> None:
    rows = [
        {"sampler": s, "dataset": d, "trial": t, "error": 10 + t + (s == "orf") * t * 3}
        for s in ("rks", "orf")
        for d in ("eeg", "digits")
        for t in (0, 1, 2)
    ]
    read = results(rows)
    assert [line.partition(":")[0] for line in sentences(of([read]), read)] == ["digits", "eeg"]
    smoke = results(rows, smoke=True)
    assert sentences(of([smoke]), smoke) == []


def test_rows_are_named_only_where_they_were_cut() -> None:
    facts = {"dataset": "wine[500 rows]"}
    for n_train, n_test, name in ((125, 53, "wine"), (350, 150, "wine[500 rows]")):
        read = results([facts | {"n_train": n_train, "n_test": n_test}])
        assert shown_name(summarise(read)) == name
