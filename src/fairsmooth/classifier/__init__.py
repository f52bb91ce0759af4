"""The scikit-learn shell that every method here shares: checks in, probabilities out."""

from fairsmooth.classifier.group_classifier import GroupClassifier, both_classes
from fairsmooth.classifier.rule_classifier import RuleClassifier

__all__ = ["GroupClassifier", "RuleClassifier", "both_classes"]
