"""Maps of others: adapters to their packages, transcriptions, and what runs the check on them."""
