"""Entry point of `python -m rfbench`, which runs the command `rfbench`."""

from rfbench.cli import main

if __name__ == "__main__":
    main(prog_name="rfbench")
