"""The version of rfbench, which modules read without importing the whole package."""

__version__ = "0.2.0"
