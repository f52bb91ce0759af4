"""Rows beside the groups' own classifiers: pieces are the whole."""

import numpy as np

from fairsmooth.metrics import own
from fairsmooth.metrics.own import Distances, own_rows
from fairsmooth.metrics.scored import score_rows


def test_pieces_give_what_all_rows_give(case, monkeypatch):
    groups = score_rows(case.clf, case.X, case.y, sensitive_features=case.group).groups
    whole = own_rows(case.clf, case.X, groups)
    monkeypatch.setattr(own, "PIECE_ROWS", 37)
    pieces = own_rows(case.clf, case.X, groups)
    for name in ("scores", "own_scores"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), atol=1e-12)
    np.testing.assert_array_equal(pieces.agreed, whole.agreed)
    for mine, theirs in zip(pieces.distances, whole.distances, strict=True):
        assert mine.n_rows == theirs.n_rows == len(case.X)
        np.testing.assert_allclose([*mine.norms().values()], [*theirs.norms().values()], rtol=1e-9)


def test_norms_are_those_of_all_differences():
    differences = np.array([3.0, -4.0, 0.0])
    added = Distances().add(differences[:1]).add(differences[1:1]).add(differences[1:])
    norms = added.norms()
    assert norms["l1"] == 7.0 / 3.0
    assert norms["linf"] == 4.0
    np.testing.assert_allclose(norms["l2"], np.sqrt(25.0 / 3.0), rtol=1e-15)
    assert np.isnan([*Distances().norms().values()]).all()
