"""The numbers of the results: everything that a page, a table or a figure shows, and no words.

Facts are frozen dataclasses or DataFrames, made from what lies in the results folders (rows,
manifests, kept features) and from `rfbench.papers` alone.

One frame of all rows

- `frame.collect(paths)`, or `frame.of(results)` for what was read: a `Collection` of rows, groups
  of trials, experiments and notes.
- `selection.Selection(collection)`: which groups bear on which item and data set of a paper.
- `paired.Trials(collection, groups)`: a metric of several groups side by side, trial by trial.

The papers

- `verification.verify(paths, paper)`: both of the following.
- `published.published(selection, paper)`: each printed number beside what was measured.
- `claims.evaluate(selection, paper)`: an `outcomes.Outcome` per claim and protocol;
  `claims.tabulate_outcomes` is their DataFrame. `comparisons.ClaimComparison`: one of an
  outcome's comparisons.
- `findings.gains(selection)`: what the papers' methods gain over others, published and measured.
- `verdicts`: the rules and their constants. `kept`: where kept features lie. `chance`: the data
  that decide nothing.

- `contents.cover(verification, configured)`: a `Coverage` per table and figure: data with rows,
  substitutes, what has no rows.

One folder

- `compare.compare(results, first, second)`: two methods, paired trial by trial.
- `naming`: what methods are called where two lines have one name, and their order.
- `summary.summarise(results, metric)`: means, errors, times, ranges by data set, method and x.
- `best.answers(collection, results)`: where two methods differ; `best.best_or_tied`: the best.
- `faults.faults(results)`: a `Fault` per failure or mixture among the rows.
- `faults.checks(results)`: a `Check` per statement of the configuration about its rows.

Of all

- `findings.gather(verification)`: what the rows say about papers and splits.
- `statistics`: the tests over trials and over data sets.
"""
