"""Audits: trials with other values of the settings that a paper does not state."""
