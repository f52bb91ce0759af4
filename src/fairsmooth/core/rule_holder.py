"""What an estimator shows of the rule that it was fitted to."""

from fairsmooth._types import Floats
from fairsmooth.core.architecture import Network
from fairsmooth.core.build import AnyNetwork
from fairsmooth.core.calibration import Calibration
from fairsmooth.core.certificate import Certificate
from fairsmooth.core.rule import FittedRule


class RuleHolder:
    """An estimator whose fitted attributes are those of its rule, and read-only as it is."""

    rule_: FittedRule

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
    def architecture_(self) -> AnyNetwork:
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

    @property
    def _fitted(self) -> FittedRule:
        if "rule_" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet.")
        return self.rule_

    def __sklearn_is_fitted__(self) -> bool:
        """Tell scikit-learn that only a finished training counts."""
        return "rule_" in vars(self)
