"""Names of methods as printed in papers."""

from __future__ import annotations

# Maps the name or label of a method in rfbench to the name that papers print. A method that is not
# listed is printed with its name in rfbench.
PRINTED = {
    "boosting": "gradient boosting",
    "eerf": "EERF",
    "elm": "ELM",
    "exact-kernel": "kernel ridge",
    "fastfood": "Fastfood",
    "leverage-rff": "LS-RFF",
    "lkrf": "LKRF",
    "nystroem": "Nyström",
    "nystroem-kmeans": "k-means Nyström",
    "nystroem-recursive-rls": "RLS Nyström",
    "nystroem-rpcholesky": "RPCholesky Nyström",
    "orf": "ORF",
    "qmc": "QMC",
    "rfm-rff": "RFM-RFF",
    "rks": "RKS",
    "rom": "ROM",
    "ses": "SES",
    "simrf": "SimRF",
    "sorf": "SORF",
    "ssr": "SSR",
    "surrogate-leverage": "SLS-RFF",
    "svd": "SVD",
    "swim": "SWIM",
    "tefm-g": "TEFM-G",
    "tefm-s": "TEFM-S",
    "varpro": "VarPro",
}


def find_displayed_name(method: str) -> str:
    """Return the name of a method as printed in papers, followed by the suffix of a variant.

    >>> [find_displayed_name(name) for name in ("nystroem-kmeans", "lkrf-top, gamma=2", "mine")]
    ['k-means Nyström', 'LKRF-top, gamma=2', 'mine']
    """
    name = method.partition(",")[0]
    while name not in PRINTED and "-" in name:
        name = name.rpartition("-")[0]
    return PRINTED.get(name, name) + method[len(name) :]


def find_internal_name(name: str) -> str:
    """Return the name of a method in rfbench, given its name as printed in papers.

    >>> find_internal_name("SLS-RFF"), find_internal_name("ls-rff"), find_internal_name("mine")
    ('surrogate-leverage', 'leverage-rff', 'mine')
    """
    folded = name.casefold()
    return next((own for own, shown in PRINTED.items() if shown.casefold() == folded), name)
