"""rfbench measures random-feature methods for kernel learning the way their papers did."""

__version__ = "0.1.0"
