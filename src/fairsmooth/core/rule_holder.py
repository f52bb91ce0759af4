"""What an estimator shows of the rule that it was fitted to."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fairsmooth._types import Floats, Labels
from fairsmooth.core.calibration import Calibration
from fairsmooth.core.certificate import Certificate
from fairsmooth.core.explanation import Explanation, explain
from fairsmooth.core.network import Network
from fairsmooth.core.rows import CodedRows, Rows
from fairsmooth.core.rule import FittedRule
from fairsmooth.exceptions import InputError

if TYPE_CHECKING:
    from fairsmooth.core.build import AnyNetwork


class RuleHolder:
    """An estimator whose fitted attributes are those of its rule, and read-only as it is."""

    rule_: FittedRule
    # Returns rows that the rule can score, or refuses them; a method of whoever inherits.
    _checked: Callable[[Any], Any]

    n_features_in_: int

    def _own_columns(self, rows: CodedRows) -> CodedRows:
        """Return rows whose coded columns are those that the rule was fitted to."""
        if list(rows.names) != list(getattr(self, "feature_names_in_", [])):
            raise InputError(
                f"Expected coded columns with the {self.n_features_in_} features of the "
                f"model, got {len(rows.names)} features or others. Encode them by its encoder."
            )
        return rows

    @property
    def group_parameters_(self) -> Floats:
        """Each group's own parameters, read-only."""
        return self._fitted.group_parameters

    @property
    def parameters_(self) -> Floats:
        """The overall parameters, read-only."""
        return self._fitted.parameters

    @property
    def free_group_parameters_(self) -> Floats | None:
        """The groups' parameters trained without the tie, read-only."""
        return self._fitted.free_group_parameters

    @property
    def coef_(self) -> Floats:
        """Weights of a linear model, shape (1, d), as scikit-learn has them."""
        return self._linear_parameters[None, :-1]

    @property
    def intercept_(self) -> Floats:
        """Intercept of a linear model, shape (1,)."""
        return self._linear_parameters[-1:]

    @property
    def _linear_parameters(self) -> Floats:
        network = self._fitted.architecture
        if not isinstance(network, Network) or network.hidden_layer_sizes:
            raise AttributeError("Expected a linear model for coef_ and intercept_, got a network.")
        return self._fitted.parameters

    @property
    def certificate_(self) -> Certificate:
        """The certificate of ``group_parameters_``."""
        return self._fitted.certificate

    @property
    def calibration_(self) -> Calibration | None:
        """The map that every smooth score goes through, if there is one."""
        return self._fitted.calibration

    @property
    def architecture_(self) -> "AnyNetwork":
        """The base classifier."""
        return self._fitted.architecture

    @property
    def threshold_(self) -> float:
        """The decision threshold."""
        return self._fitted.threshold

    @threshold_.setter
    def threshold_(self, threshold: float) -> None:
        # Whoever installs parameters with set_parameters may choose the threshold before.
        if hasattr(self, "rule_"):
            raise AttributeError(
                "Expected threshold_ to stay as it was when fitted, got a new value. "
                "Set threshold= and fit again, or compare predict_proba with another number."
            )
        self._chosen_threshold = float(threshold)

    def explain(
        self, X: Any, *, reference: Any = None, columns: Sequence[str] | None = None
    ) -> Explanation:
        """Explain rows: what each column adds to the score of a reference row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows.
        reference : array-like of shape (d,) or (m, d), optional
            The row to compare with, or rows, whose mean is taken; zeros if left out.
        columns : sequence of str, optional
            The source column of every feature, such as the one that it is an indicator of;
            each feature by itself if left out.

        Returns
        -------
        Explanation
            Contributions that add up to the difference of the scores, the certified interval of
            every group's own score, and whether each group's own decision is proved to agree.
        """
        checked = self._checked(X)
        rows = checked.toarray() if isinstance(checked, Rows) else checked
        names = list(getattr(self, "feature_names_in_", map(str, range(rows.shape[1]))))
        sources = tuple(map(str, names if columns is None else columns))
        if len(sources) != rows.shape[1]:
            raise InputError(
                f"Expected columns with one name per feature ({rows.shape[1]}), got {len(sources)}."
            )
        base = np.zeros(rows.shape[1])
        if reference is not None:
            given = np.asarray(reference, dtype=np.float64)
            base = given.mean(axis=0) if given.ndim == 2 else given
        if base.shape != rows.shape[1:] or not np.isfinite(base).all():
            raise InputError(
                f"Expected a finite reference of {rows.shape[1]} features, got shape {base.shape}."
            )
        return explain(self.rule_, rows, base, sources)

    def predict_with_own_interval(self, X: Any, codes: Labels) -> tuple[Floats, Floats]:
        """Return the overall score (n,) and the interval of the row's own group, (n, 2).

        ``codes`` are the places of the rows' groups in ``groups_``. The intervals are those of
        ``predict_interval``, without those of all other groups.
        """
        return self._fitted.scores_and_own_intervals(self._checked(X), codes)

    def free_scores(self, X: Any, codes: Labels) -> Floats:
        """Return the score of each row by its group's classifier trained without the tie, (n,)."""
        return self._fitted.free_scores(self._checked(X), codes)

    def scores_by_group(self, X: Any) -> Iterator[tuple[slice, slice, Floats]]:
        """Yield which rows, which groups, and their own classifiers' scores of these rows.

        The parts are all rows times all groups, a few megabytes at a time.
        """
        return self._fitted.scores_by_group(self._checked(X))

    @property
    def _fitted(self) -> FittedRule:
        if "rule_" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet.")
        return self.rule_

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn that only a finished training counts."""
        return "rule_" in vars(self)
