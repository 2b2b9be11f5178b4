"""The numbers of the results: everything that a page, a table or a figure shows, and no words.

Facts are frozen dataclasses or DataFrames. Nothing here looks at the machine's data sets: rows,
manifests and `rfbench.papers` are all there is, so that the same rows give the same numbers.

One frame of all rows

- `frame.collect(paths)`, or `frame.of(results)` for what was read: a `Collection` with `rows` (one
  line per trial), `groups` (one line per folder, data set, protocol, method, solver, d and M),
  `experiments` (the `Results`: configuration, manifest, notes) and `notes`.
- `selection.Selection(collection)`: which groups bear on which item and data set of a paper.
  `select(paper, items, data set, protocol, stand_in)` and `protocols(paper, items)`;
  `selection.of_method(lines, method)`.
- `paired.Trials(collection, lines)`: a metric of several groups side by side, trial by trial.

The papers

- `verification.verify(paths, paper)`: both of the following; `under(protocol)`, `contradicted`.
- `published.published(selection, paper)`: a DataFrame, one line per printed number and protocol:
  measured mean, standard error, trials, difference, verdict, the group and folder behind it; then
  the stand-ins.
- `claims.evaluate(selection, paper)`: `outcomes.Outcome` per claim and protocol, with every
  `ClaimComparison` and `Gap` behind it. `claims.table` and `claims.comparisons` are
  DataFrames.
- `verdicts`: the rules and their constants. `one_offs`: what one claim alone needs. `chance`: the
  data that decide nothing. `marks`: a paper's own test of significance.

One folder

- `summary.summarise(results, metric)`: a DataFrame, one line per data set, method and x: means,
  standard errors, times, ranges. `summary.axis`, `summary.metrics`.
- `checks.checks(results)`: a `Check` per statement of the configuration about its rows.
- `faults.faults(results)`: a `Fault` per failure or mixture among the rows; `wall_over_cpu`.

Which method

- `ranking.gather(results)`: a `Comparison` of the methods over the data sets outside the papers,
  with `at(M)`, `complete(M)`, `learnt`, `unlearnt`, `clock`; `smallest_near`, `time_ratios`,
  `at_equal_time`, `against` and `groups` take it or its scores.
- `statistics`: the tests over trials and over data sets.
"""
