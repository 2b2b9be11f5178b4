"""Version number of rfbench. Reading it from this module does not import the whole package."""

__version__ = "0.2.0"
