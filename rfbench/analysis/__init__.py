"""Analysis of results: all numbers of pages, tables and figures. The text is in `rfbench.pages`.

Facts are frozen dataclasses or DataFrames. They are computed from the content of results folders
(rows, manifests, kept features) and from `rfbench.papers` alone.

One frame of all rows

- `frame.collect(paths)`, or `frame.of(results)` for loaded results: a `Collection` of rows, groups
  of trials, experiments and notes.
- `selection.Selection(collection)`: the groups that belong to an item and data set of a paper.
- `paired.Trials(collection, groups)`: a metric of several groups in one table, paired by trial.

The papers

- `verification.verify(paths, paper)`: the published numbers and the claims together.
- `published.published(selection, paper)`: each published number with the measured value.
- `claims.evaluate(selection, paper)`: an `outcomes.Outcome` per claim and protocol.
  `claims.tabulate_outcomes` is their DataFrame. `comparisons.ClaimComparison` is one of an
  outcome's comparisons.
- `findings.gains(selection)`: published and measured gains of the papers' methods over others.
- `verdicts`: the rules and their constants. `kept`: the location of kept features. `chance`: data
  on which no method is better than a constant.

- `contents.cover(verification, configured)`: a `Coverage` per table and figure, with measured,
  substituted and missing data sets.

One folder

- `compare.compare(results, first, second)`: two methods, paired by trial.
- `naming`: names of methods if two lines have one name, and their order.
- `summary.summarise(results, metric)`: means, errors, times, ranges per data set, method and x.
- `best.answers(collection, results)`: differences of two methods. `best.best_or_tied`: best lines.
- `faults.faults(results)`: a `Fault` per failure or mixture among the rows.
- `faults.checks(results)`: a `Check` per statement of the configuration about its rows.

All results

- `findings.gather(verification)`: findings on papers and splits.
- `statistics`: the tests over trials and over data sets.
"""
