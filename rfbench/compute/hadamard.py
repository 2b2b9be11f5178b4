def fwht_inplace(a, axis): pass
