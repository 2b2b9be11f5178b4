"""The verdicts that there are."""

from rfbench.analysis import verdicts as rules

NUMBER_VERDICTS = (*rules.COMPARED, rules.REPEATED, rules.NOT_JUDGED, rules.NOT_RUN)
CLAIM_VERDICTS = (*rules.JUDGED, rules.SHOWN, rules.NOT_RUN)
