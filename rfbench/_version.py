"""Version of rfbench, in a module that can be read without importing the whole package."""

__version__ = "0.2.0"
