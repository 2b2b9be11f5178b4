"""Analysis of results: all numbers of pages, tables and figures. The text is in `rfbench.pages`.

The functions return frozen dataclasses or DataFrames. Their only input is the content of results
folders (rows, manifests, stored features) and of `rfbench.papers`.

These functions collect all rows in one data frame.

- `frame.collect_results(paths)`, or `frame.build_collection(results)` for loaded results: a
  `Collection` of rows, groups of trials, experiments and notes.
- `selection.Selection(collection)`: the groups of trials that belong to one table or figure of a
  paper and one data set.
- `paired.Trials(collection, groups)`: a metric of several groups in one table, paired by trial.

These functions compare results with papers.

- `verification.verify_results(paths, paper)`: the published numbers and the claims together.
- `published.compare_published_numbers(selection, paper)`: each published number with the measured
  value.
- `claims.evaluate_claims(selection, paper)`: an `outcomes.Outcome` per claim and protocol.
  `claims.tabulate_claim_verdicts` converts outcomes to a DataFrame. An outcome contains several
  `comparisons.ClaimComparison`.
- `findings.tabulate_published_gains(selection)`: published and measured gains of one method over
  another.
- `verdicts`: the rules of the verdicts and their constants. `kept`: stored features near given
  points. `chance`: data on which no method is better than a constant prediction.
- `contents.compute_coverage(verification, configured)`: a `Coverage` per table and figure, with
  measured, substituted and missing data sets.

These functions analyze one results folder.

- `compare.compare(results, first, second)`: two methods, paired by trial.
- `naming`: distinct names for methods with the same label, and the order of methods.
- `summary.summarize(results, metric)`: means, errors, times and ranges per data set, method and
  value of the axis.
- `best.compare_best_methods(collection, results)`: the best method compared with a second method.
  `best.is_best_or_tied`: lines of a table that are best or tied with the best line.
- `data_issues.find_data_issues(results)`: a `DataIssue` per problem of the rows, such as failed
  trials.
- `data_issues.evaluate_checks(results)`: a `Check` per condition on the rows in the configuration.

These functions analyze all results.

- `findings.gather_findings(verification)`: findings on papers and splits.
- `statistics`: the paired t-test over trials, and Holm's correction.
"""
