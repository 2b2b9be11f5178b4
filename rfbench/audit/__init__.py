"""Audits: which of the settings that a paper does not state reproduce its numbers."""
