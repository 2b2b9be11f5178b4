"""The folder of an invented paper."""

from pathlib import Path

PAPER = """\
title: Two Numbers and One Claim
authors: [Jane Doe, Richard Q. Roe]
venue: JOKE
year: 2030
about: an invented paper
datasets:
  Digits: {dataset: digits, n_train: 1258, n_test: 539}
methods: {rks: RKS}
measured_as: {t_total: t_all}
gains:
  table7: [[rks, rks]]
doubts:
  - {item: table7, text: Nobody has seen this paper.}
"""
PUBLISHED = """\
item,dataset,method,M,metric,value,spread,spread_kind,unit,mark,note
table7,Digits,rks,40,error,99.5,0.5,se,%,,
table7,Digits,rks,40,t_total,12.5,,,s,,
"""
CLAIMS = """\
claims:
  - id: D1
    where: Table 7
    claim: "Less than nine tenths of the digits are taken for others."
    source: invented
    parts:
      - says: error below 90
        items: [table7]
        datasets: [Digits]
        metric: error
        method: rks
        at: each
        high: 90
"""
CHOICES = """\
all: {scaling: [none, standard]}
table7/Digits: {feature_map: [offset, paired]}
"""
FILES = {
    "paper.yaml": PAPER,
    "published.csv": PUBLISHED,
    "claims.yaml": CLAIMS,
    "open_choices.yaml": CHOICES,
}


def write(root: Path, name: str = "doe2030", **changes: str) -> Path:
    """Write a paper's folder; `changes` are other contents by the stem of the file."""
    folder = root / name
    folder.mkdir(parents=True)
    for file, text in FILES.items():
        (folder / file).write_text(changes.get(file.partition(".")[0], text))
    return root
