"""Methods of somebody else's, as the text of a file."""

BAD = """\
class Bad:
    def fit(self, X, y=None):
        raise ValueError("on purpose")
    def transform(self, X):
        return X
"""
