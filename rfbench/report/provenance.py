"""Links of the pages that are still written here."""

from rfbench.pages.words import link

__all__ = ["link"]
