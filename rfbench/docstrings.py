"""Docstrings as scikit-learn has them: completed from the bases of a class, and read aloud.

A class documents its own parameters; those that it inherits, the defaults, the rules and what is
raised are declared once and added where the class is made.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

SECTIONS = (
    "Parameters", "Attributes", "Methods", "Returns", "Yields", "Raises", "See Also", "Notes",
    "References", "Examples",
)  # fmt: skip
SECTION = re.compile(rf"^({'|'.join(SECTIONS)})\n-+\n", re.MULTILINE)
ENTRY = re.compile(r"^(\w+(?:, \w+)*) ?(?::(.*))?$")


def sections(text: str) -> dict[str, str]:
    """Return the sections of a docstring by their names; what stands before them has the name ''.

    >>> sections("It does.\\n\\nRaises\\n------\\nValueError\\n    Never.")
    {'': 'It does.', 'Raises': 'ValueError\\n    Never.'}
    """
    first, *rest = SECTION.split(inspect.cleandoc(text) + "\n")
    parts = {"": first.strip()}
    for name, content in zip(rest[::2], rest[1::2], strict=True):
        parts[name] = content.strip("\n").rstrip()
    return parts


def entries(section: str) -> dict[str, tuple[str, str]]:
    """Return type and description of each name of a section; of names that share an entry, each.

    >>> entries("a, b : float\\n    Two.\\nc : int\\n    One.")["b"]
    ('float', 'Two.')
    """
    result: dict[str, tuple[str, str]] = {}
    names: list[str] = []
    kind, lines = "", list[str]()

    def keep() -> None:
        for name in names:
            result[name] = kind, textwrap.dedent("\n".join(lines)).strip()

    for line in section.splitlines():
        match = ENTRY.match(line)
        if match and not line.startswith(" "):
            keep()
            names, kind, lines = match[1].split(", "), (match[2] or "").strip(), []
        else:
            lines.append(line)
    keep()
    return result


def complete(cls: type[Any]) -> None:
    """Complete the docstring of an `rfbench.parameters.estimator`.

    Every parameter of its constructor is there, with its default: one that the class does not
    explain as a base does, or by its rule. So are inherited attributes, and what is raised.
    """
    if not cls.__dict__.get("__doc__"):
        return
    bases = [sections(base.__doc__ or "") for base in cls.__mro__[1:] if _ours(base)]
    own = sections(cls.__doc__ or "")
    parameters = _explained(own, bases, "Parameters")
    rows = []
    for declared in fields(cls):
        if not declared.init:
            continue
        rule = declared.metadata.get("rule")
        kind, meaning = parameters.get(declared.name, ("", ""))
        kind = re.sub(r",? *(optional|default=.*)$", "", kind) or _kind(declared.type)
        meaning = meaning or (f"{rule.words[:1].upper()}{rule.words[1:]}." if rule else "")
        default = declared.default
        rows.append(_entry(declared.name, f"{kind}, default={default!r}", meaning))
    own["Parameters"] = "\n".join(rows)
    attributes = _explained(own, bases, "Attributes")
    if attributes:
        own["Attributes"] = "\n".join(_entry(n, k, m) for n, (k, m) in attributes.items())
    raised = _explained(own, bases, "Raises")
    raised.setdefault("MethodError", ("", "A parameter breaks its rule, or rows cannot be served."))
    own["Raises"] = "\n".join(_entry(name, kind, m) for name, (kind, m) in raised.items())
    related = [base.__name__ for base in cls.__mro__[1:] if _ours(base) and base.__doc__]
    if related and "See Also" not in own:
        own["See Also"] = f"{related[0]} : What it is built on."
    cls.__doc__ = _joined(own)


def _ours(cls: type[Any]) -> bool:
    return cls.__module__.startswith("rfbench")


def _explained(
    own: Mapping[str, str], bases: list[dict[str, str]], section: str
) -> dict[str, tuple[str, str]]:
    """Return the entries of a class, then those of its bases that it has no words for."""
    result = entries(own.get(section, ""))
    for base in bases:
        for name, (kind, meaning) in entries(base.get(section, "")).items():
            if name not in result or (not result[name][0] and kind):
                result[name] = kind, meaning
    return result


def _kind(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")


def _entry(name: str, kind: str, meaning: str) -> str:
    head = f"{name} : {kind}" if kind else name
    return f"{head}\n{textwrap.indent(meaning, '    ')}" if meaning else head


def _joined(parts: Mapping[str, str]) -> str:
    texts = [parts[""]]
    texts += [f"{n}\n{'-' * len(n)}\n{parts[n]}" for n in SECTIONS if parts.get(n)]
    return "\n\n".join(texts) + "\n"


# ruff: noqa: RUF001  Greek letters are meant.
SIGNS = {
    "top": "'", "theta": "θ", "sum": "Σ", "alpha": "α", "sigma": "σ", "phi": "φ", "rho": "ρ",
    "le": "≤", "ge": "≥", "beta": "β", "sim": "~", "chi": "χ", "lambda": "λ", "delta": "δ",
    "ell": "ℓ", "prod": "Π", "Pi": "Π", "xi": "ξ", "infty": "∞", "pi": "π", "cdots": "...",
    "approx": "≈", "pm": "±", "Theta": "Θ", "circ": "∘", "gamma": "γ", "Gamma": "Γ",
    "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "in": "∈", "cdot": "·",
    "times": "×", "mu": "μ", "omega": "ω", "epsilon": "ε", "tau": "τ", "eta": "η", "ne": "≠",
    "mid": "|", "dots": "...", "ldots": "...", "to": "→", "odot": "⊙", "propto": "∝",
}  # fmt: skip
FONTS = "mathrm|operatorname|text|mathbf|mathbb|tilde|hat|bar"
UPPER = str.maketrans("0123456789+-nk", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿᵏ")


def readable(text: str) -> str:
    r"""Write the formulas of a docstring for a terminal, and its markup as it reads.

    >>> readable(r":math:`\beta^{-2} I` of ``rks``; :math:`\frac{a}{b+c}`.")
    'β⁻² I of rks; a / (b+c).'
    """
    text = re.sub(r":math:`([^`]*)`", lambda match: _formula(match[1]), text)
    text = re.sub(
        r"\.\. math::((?:\n?[^\n]*\S[^\n]*)?(?:\n\n?(?: +[^\n]+\n?)+)?)",
        lambda match: "\n" + textwrap.indent(_formula(" ".join(match[1].split())), "    ") + "\n",
        text,
    )
    return re.sub(r"``([^`]*)``", r"\1", text)


def _formula(text: str) -> str:
    group = r"\{((?:[^{}]|\{[^{}]*\})*)\}"
    for _ in range(3):
        text = re.sub(rf"\\t?frac{group}{group}", _quotient, text)
    text = re.sub(rf"\\sqrt{group}", lambda m: f"√{_bracketed(m[1])}", text)
    text = re.sub(r"\\sqrt\s*(\w)", r"√\1", text)
    text = re.sub(
        rf"\\(?:mathrm|operatorname|text|mathbf|mathbb|tilde|hat|bar){group}", r"\1", text
    )
    text = re.sub(r"\\(?:left|right|[bB]igg?[lr]?|displaystyle)\b", "", text)
    text = re.sub(r"\\(?:qquad|quad|[,;: ])", " ", text)
    text = text.replace(r"\!", "").replace(r"\|", "‖")
    text = re.sub(r"\^\{?\\top\}?", "'", text)
    text = re.sub(r"\\([a-zA-Z]+)", lambda m: SIGNS.get(m[1], m[1]), text)
    text = re.sub(
        r"\^\{([0-9+-]+)\}|\^([0-9nk])(?![0-9])", lambda m: (m[1] or m[2]).translate(UPPER), text
    )
    text = re.sub(r"([_^])\{([^{}]*)\}", lambda m: m[1] + _bracketed(m[2]), text)
    text = (
        re.sub(r"[{}]", "", text.replace(r"\{", "{").replace(r"\}", "}"))
        if "\\" not in text
        else text
    )
    return " ".join(text.replace("\\", "").split())


def _bracketed(text: str) -> str:
    return text if re.fullmatch(r"\w+", text) else f"({text})"


def _quotient(match: re.Match[str]) -> str:
    return f"{_bracketed(match[1])} / {_bracketed(match[2])}"
