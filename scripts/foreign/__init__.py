"""Maps of other packages: adapters, transcriptions, and the script that checks them."""
