"""The command line, called in this process."""

from click.testing import CliRunner

from rfbench.cli import main


def call(*words, code=0):
    result = CliRunner().invoke(main, [str(word) for word in words])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result.output
