"""The prose of the project: patterns that slow a reader down occur no more often than stored.

tests/plain_english.yaml has the patterns, tests/plain_english_counts.json their first counts and
the ceilings. ``python -m tests.support.prose`` prints each match with its place.
"""

from collections import defaultdict

import pytest

from tests.support import prose

PATTERNS = prose.read_patterns()["patterns"]
STORED = prose.read_counts()


@pytest.fixture(scope="module")
def texts():
    """The prose of the project. It is a fixture, so that collecting the tests does not read it."""
    return list(prose.read_project())


@pytest.fixture(scope="module")
def matches(texts):
    found = [match for text in texts for match in prose.find_matches(text)]
    return prose.sort_changed_first(found, prose.find_changed_files())


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("kind", prose.KINDS)
def test_prose_pattern_occurs_at_most_as_often_as_its_ceiling(pattern, kind, matches):
    ceiling = STORED["ceilings"][pattern][kind]
    found = [f"{m.place}: {m.text}" for m in matches if (m.pattern, m.kind) == (pattern, kind)]
    advice = [f"{len(found)} for a ceiling of {ceiling}.", PATTERNS[pattern]["instead"], *found]
    assert len(found) <= ceiling, "\n".join(advice)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_prose_pattern_ceiling_is_at_most_a_quarter_of_its_first_count(pattern):
    first, ceilings = STORED["first"][pattern], STORED["ceilings"][pattern]
    assert set(first) == set(ceilings) == set(prose.KINDS)
    assert sum(first.values()) > 0 or PATTERNS[pattern].get("ceiling") == 0
    for kind, ceiling in ceilings.items():
        assert ceiling <= prose.highest_ceiling(pattern, first[kind])


def test_prose_patterns_and_stored_counts_have_the_same_names():
    assert list(STORED["first"]) == list(STORED["ceilings"]) == list(PATTERNS)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_sentence_matching_a_pattern_is_counted_in_each_kind_of_text(pattern):
    for kind in PATTERNS[pattern].get("kinds", prose.KINDS):
        text = prose.Text(kind, "a.py", 1, PATTERNS[pattern]["example"])
        assert pattern in {match.pattern for match in prose.find_matches(text)}


def test_prose_pattern_matches_in_changed_files_are_listed_first():
    places = ["a.py:3", "b.py:1", "c.py:9", "b.py:2"]
    matches = [prose.Match("so", "comments", place, "") for place in places]
    found = [match.place for match in prose.sort_changed_first(matches, {"b.py", "c.py"})]
    assert found == ["b.py:1", "c.py:9", "b.py:2", "a.py:3"]


def test_sentence_without_a_bad_pattern_is_not_counted():
    sentence = "Return the rows of `table` whose target is missing, sorted by date."
    assert not list(prose.find_matches(prose.Text("docstrings", "a.py", 1, sentence)))


MODULE = '''
def read(rows):
    """Return the rows that\n    are no numbers.

    The second paragraph."""
    LIMIT = 3
    """Of the rows."""
    # A comment of
    # two lines.
    rows = 3  # beside it
    raise ValueError(f"The file {rows} says so, and " "stands there.")  # noqa: EM102
'''


def test_prose_of_a_module_is_read_by_kind():
    found = defaultdict(list)
    for text in prose.read_module(MODULE, "a.py"):
        found[text.kind].append(text.text)
    assert found == {
        "docstrings": [
            "Return the rows that are no numbers.\nThe second paragraph.",
            "Of the rows.",
        ],
        "messages": ["The file {} says so, and stands there."],
        "comments": ["A comment of two lines.", "beside it"],
    }


def test_prose_of_a_template_has_no_statements_and_no_code():
    text = (
        "{# is no\n file #}{% if x %}A {{ name }} stands.{% endif %}\n\n    code\n- two\n- three\n"
    )
    found = [(each.line, each.text) for each in prose.read_template(text, "a.j2")]
    assert found == [(1, "A {} stands."), (5, "- two"), (6, "- three")]


def test_prose_of_a_yaml_template_is_its_comments():
    text = "# A paper.\n# Two lines.\ntitle: {{ name }}\nM: 3  # features\nseed: 0\n"
    found = [(each.line, each.text) for each in prose.read_template(text, "a.yaml.j2")]
    assert found == [(1, "A paper. Two lines."), (4, "- features")]


def test_prose_of_an_html_template_has_no_tags():
    found = list(prose.read_template('<meta content="a: b;">\n<p>Text.</p>\n', "a.html.j2"))
    assert [each.text for each in found] == ["Text."]


def test_prose_of_each_kind_of_text_is_found_in_the_checkout(texts):
    assert {text.kind for text in texts} == set(prose.KINDS)


@pytest.mark.parametrize("use", prose.read_patterns()["right"], ids=lambda use: use["phrase"])
def test_each_reviewed_exception_occurs_in_the_prose_and_has_a_reason(use, texts):
    assert PATTERNS[use["pattern"]]["compiled"].search(use["phrase"])
    assert any(use["phrase"] in text.text for text in texts)
    assert len(use["reason"].split()) >= 3
