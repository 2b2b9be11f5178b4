"""Hold published numbers and claims against measurements.

The rules, in full.

\b
What counts
  - Results whose configuration names the paper and the item, grouped by protocol (printed,
    matched, tuned). Smoke runs, sweeps and rows of earlier configurations do not.
  - The paper's own data set, with its numbers of training and test rows (within 2 %). A subset
    or a replacement is a stand-in: it is shown apart and never judged.
  - Of several results for one number, those with the most trials; of as many, those of the
    folder that comes first by name.

\b
A published number in percent is compared with the mean over our trials
  agrees      within half a point, and within the 95 % two-sample interval of the difference
              (Welch; plus half a unit of the last digit), and that interval is no wider than one
              point to either side: a large spread earns nothing. Needs the published spread and
              two trials of ours.
  close       within one point.
  differs     more than one point away.
  not judged  a time: another machine and another language. Times are compared only with times
              of the same table, in the claims.
  not run     the data are there, or need no file, but there is no result.
  no data     there is no result, and the data set is not on this machine.

\b
'best' is the smallest test error over the sizes that were run. Choosing it on the test rows is
optimistic, in the paper and here.

\b
A claim is a list of comparisons, each a paired quantity that must lie between bounds
  - Each is a mean, tested against its bounds by one-sided paired t-tests over the trials at
    5 %, in both directions; for test errors where every trial splits the same rows anew, with
    Nadeau and Bengio's correction. Holm's correction runs over the comparisons of a data set
    (or of the claim).
  - Times are CPU seconds of isolated trials: shared times are upper bounds, and other work on
    the machine lengthens wall times.
  - Where the split is given, trials differ in the features only: a p-value says nothing about
    other test rows.
  - Small samples decide nothing: a comparison counts only with so many trials that even a sign
    test could be significant after the correction: 5 for one comparison, 8 for eight, 10 for
    40. Differences that do not vary are judged by that sign test.
  holds         every comparison is significantly within its bounds, on every data set of the
                claim, at as many sizes as the claim asks for.
  fails         a comparison is significantly outside its bounds.
  inconclusive  neither.
  not run       nothing to compare.
  - Data on which nothing is learnt (a mean R^2 below .05 for every method at every size) decide
    nothing.
  - The effect is that of the least favourable comparison, its p-value the corrected one; of
    several, the farthest outside its bounds. A quotient is a geometric mean over the trials.
  - A claim on marks of significance repeats the paper's own test, paired t without correction,
    on as many trials, so that it has the paper's power; it holds if every mark comes out, and
    fails if more than a tenth of all its cells, measured or not, come out differently.
"""

from rfbench.analysis.verdicts import (
    AGREES,
    AGREES_POINTS,
    ALPHA,
    CLOSE,
    CLOSE_POINTS,
    DIFFERS,
    FAILS,
    HALF_A_DIGIT,
    HOLDS,
    INCONCLUSIVE,
    NOT_JUDGED,
    NOT_RUN,
    WIDEST_POINTS,
)

NO_DATA = "no data"
CELL_VERDICTS = (AGREES, CLOSE, DIFFERS, NOT_JUDGED, NOT_RUN, NO_DATA)
CLAIM_VERDICTS = (HOLDS, FAILS, INCONCLUSIVE, NOT_RUN)

__all__ = [
    "AGREES", "AGREES_POINTS", "ALPHA", "CELL_VERDICTS", "CLAIM_VERDICTS", "CLOSE", "CLOSE_POINTS",
    "DIFFERS", "FAILS", "HALF_A_DIGIT", "HOLDS", "INCONCLUSIVE", "NOT_JUDGED", "NOT_RUN",
    "NO_DATA", "WIDEST_POINTS",
]  # fmt: skip
