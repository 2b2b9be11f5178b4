from pathlib import Path

import pytest

from rfbench import yamlfile
from rfbench.errors import ConfigError


def parse(text):
    return yamlfile.parse_yaml(text, "a.yaml")


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("1e-5", 1e-5),
        ("1E5", 1e5),
        (".5", 0.5),
        ("10:30", "10:30"),
        ("no", "no"),
        ("off", "off"),
        ("true", True),
        ("False", False),
        ("0777", 777),
        ("1_000", "1_000"),
        ("2020-01-01", "2020-01-01"),
        ("~", None),
        ("-.inf", float("-inf")),
        ('"12"', "12"),
    ],
)
def test_ambiguous_yaml_words_get_the_expected_type(word, value):
    found = parse(f"key: {word}").value["key"]
    assert found == value
    assert type(found) is type(value)


def test_yaml_values_have_line_numbers():
    document = parse("a: 1\nb:\n  - x\n  - {c: 2}\n")
    assert document.find_location(("a",)) == "line 1"
    assert document.find_location(("b", 1, "c")) == "line 4"
    assert document.find_location(("b", 1, "unknown")) == "line 4"
    assert document.find_location(("unknown",)) == ""


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a: 1\na: 2\n", r"line 2: the key 'a' occurs twice; the first occurrence is in line 1"),
        ("- a\n", "line 1: a configuration is a mapping"),
        ("word\n", "line 1: a configuration is a mapping"),
        ("", "is empty"),
        ("# nothing\n", "is empty"),
        ("a: [1, 2\n", "line 2: this is not valid YAML"),
        ("a: !!python/object:os.system {}\n", "line 1: the tag .* is not allowed"),
        ("a: !!python/name:os.system x\n", "tag .* is not allowed"),
        ("? [1, 2]\n: 3\n", "a key has to be a single value"),
        ("a: &x {b: 1}\nc: {<<: *x}\n", "merge keys"),
        ("a: \x00\n", "not valid YAML"),
    ],
)
def test_invalid_yaml_is_rejected_with_the_line(text, sentence):
    with pytest.raises(ConfigError, match=sentence):
        parse(text)


def test_exponential_expansion_of_yaml_anchors_is_rejected():
    text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    for i in range(1, 10):
        text += f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n"
    with pytest.raises(ConfigError, match="too large or too deeply nested"):
        parse(text)


def test_nesting_depth_is_limited():
    with pytest.raises(ConfigError, match="deeply nested|not valid YAML"):
        parse("a: " + "[" * 500 + "]" * 500)


def test_missing_file_and_folder_raise_error(tmp_path):
    with pytest.raises(ConfigError, match="no such file"):
        yamlfile.load_yaml(tmp_path / "missing.yaml")
    with pytest.raises(ConfigError, match="is a folder"):
        yamlfile.load_yaml(tmp_path)


def test_error_for_a_run_name_used_as_file_suggests_the_configuration(tmp_path):
    with pytest.raises(ConfigError, match=r"Did you mean .*'liu2020_table3'"):
        yamlfile.load_yaml(tmp_path / "liu2020_table3_eeg.printed.yaml")


def test_error_for_a_truncated_configuration_name_suggests_the_full_name():
    with pytest.raises(ConfigError, match=r"Did you mean .*'leaderboard_references'"):
        yamlfile.load_yaml(Path("leaderboard_reference"))


def test_path_with_a_null_byte_is_rejected():
    with pytest.raises(ConfigError, match="null byte"):
        yamlfile.load_yaml(Path("a\0.yaml"))
