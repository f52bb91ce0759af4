"""TableModel: encoder, roles, classifier, certificate and provenance in one object."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd
from sklearn.base import clone
from torch import nn

from fairsmooth import _validate
from fairsmooth._types import Labels
from fairsmooth.core.certificate import Certificate
from fairsmooth.data.encoding import UNKNOWN, TableEncoder
from fairsmooth.data.roles import Roles, known_label_codes, require_columns
from fairsmooth.estimator import FairSmoothClassifier
from fairsmooth.exceptions import InputError
from fairsmooth.metrics import Audit, audit
from fairsmooth.persistence import read_model, save
from fairsmooth.tables.comparison import OutOfFold
from fairsmooth.tables.provenance import Provenance
from fairsmooth.tables.reading import as_frame
from fairsmooth.tables.scoring import kept_columns, matrix_of, score

# Decided by benchmarks/defaults.py: with equal weights, many small groups ruin the large ones.
GROUP_WEIGHTS = "share"


@dataclass(frozen=True)
class TableModel:
    """A classifier that knows its table.

    Attributes
    ----------
    classifier : FairSmoothClassifier
        Fitted.
    encoder : TableEncoder or None
        Turns the table's columns into the classifier's features.
    roles : Roles or None
        Which column plays which part; None if the file does not say.
    provenance : Provenance or None
        Where the model came from; None if the file does not say.
    guarantee : None
        A guarantee of the gaps, where one was asked for.
    measured : Audit or None
        The audit on the rows that were held out at training; files do not hold it.

    Examples
    --------
    >>> from fairsmooth.datasets import make_biased
    >>> data = make_biased(n_samples=400, random_state=0)
    >>> table = data.X.assign(sex=data.sensitive_features, hired=data.y)
    >>> model = TableModel.fit(table, label="hired", sensitive=["sex"], random_state=0)
    >>> list(model.predict(table).columns[:2])
    ['probability', 'prediction']
    >>> model.certificate.epsilon_tight <= model.certificate.epsilon
    True
    """

    classifier: FairSmoothClassifier
    encoder: TableEncoder | None = None
    roles: Roles | None = None
    provenance: Provenance | None = None
    guarantee: None = None
    measured: Audit | None = None

    @classmethod
    def fit(
        cls,
        table: Any,
        *,
        label: str,
        sensitive: str | Sequence[str],
        positive: Any = None,
        ids: Sequence[str] = (),
        drop: Sequence[str] = (),
        columns: str = "auto",
        classifier: FairSmoothClassifier | None = None,
        guarantee: None = None,
        test_size: float = 0.3,
        random_state: int | None = None,
        include_sensitive: bool = False,
        unknown: str = "error",
    ) -> Self:
        """Split a table, train and certify on one part, audit on the other.

        Parameters
        ----------
        table : DataFrame, polars or pyarrow table, or path
            One row per case.
        label : str
            The column to predict; two values.
        sensitive : str or sequence of str
            Sensitive columns; groups are their combinations.
        positive : value, optional
            The positive label. May be left out where the two values are unmistakable,
            such as 0 and 1, or no and yes.
        ids, drop : sequences of str
            Columns that name rows, and columns not to use.
        columns : {"auto", "binned", "standardised"}
            What becomes of numeric columns.
        classifier : FairSmoothClassifier, optional
            Its settings are used; it is not changed. Groups weigh by their share of the
            rows if it is left out.
        guarantee : None
            No other value is supported yet.
        test_size : float
            Share of the rows to hold out, by group and label.
        random_state : int, optional
            Seeds the split, and the training if the classifier has no seed.
        include_sensitive : bool
            Whether the sensitive columns are features too.
        unknown : {"error", "ignore"}
            What a category does at prediction that training did not have.

        Returns
        -------
        TableModel
        """
        from fairsmooth.tables.fitting import drawn_seed, fit_table  # it builds on this class

        if guarantee is not None:
            raise InputError(f"Expected guarantee=None, got {guarantee!r}.")
        _validate.one_of(UNKNOWN, unknown=unknown)
        seed = drawn_seed() if random_state is None else random_state
        columns_of_groups = (sensitive,) if isinstance(sensitive, str) else tuple(sensitive)
        roles = Roles(label, columns_of_groups, positive, tuple(drop), include_sensitive, unknown)
        chosen = FairSmoothClassifier(group_weights=GROUP_WEIGHTS)
        chosen = clone(chosen if classifier is None else classifier)
        if chosen.random_state is None:
            chosen.random_state = seed
        fitted = fit_table(
            as_frame(table),
            roles,
            classifier=chosen,
            columns=columns,
            test_size=test_size,
            seed=seed,
        )
        return fitted.model

    @property
    def certificate(self) -> Certificate:
        """The certificate of the classifier."""
        return self.classifier.certificate_

    def predict(
        self,
        table: Any,
        *,
        keep: Sequence[str] = (),
        threshold: float | None = None,
        unknown: str | None = None,
        strict: bool = False,
        first_row: int = 0,
    ) -> pd.DataFrame:
        """Score every row; the sensitive columns are not needed.

        Parameters
        ----------
        table : DataFrame, polars or pyarrow table, or path
            With the columns that the model was trained on.
        keep : sequence of str
            Columns to carry along, besides the ids.
        threshold : float, optional
            Decide positive above this score instead of the model's threshold.
        unknown : {"error", "ignore"}, optional
            Overrides what the model does with an unseen category.
        strict : bool
            Whether a row that cannot be scored is an error. Otherwise its score is
            missing, and a column ``reason`` says why.
        first_row : int
            Number of the first row in the user's table, for messages.

        Returns
        -------
        DataFrame
            One row per row, in the same order: ids and kept columns, ``probability``,
            ``prediction``, ``lower_<group>`` and ``upper_<group>`` for every group.
        """
        if threshold is not None:
            _validate.in_range(0.0, 1.0, threshold=threshold)
        frame = as_frame(table)
        for name in keep:
            _validate.known_column(name, list(frame.columns), where="the table")
        features, reasons = self._features(frame, unknown=unknown, first_row=first_row)
        if strict and any(reasons):
            raise InputError(next(filter(None, reasons)))
        scored = score(self.classifier, features, reasons)
        written = scored.frame(
            self.classifier.groups_,
            self._labels(),
            threshold=self.classifier.threshold_ if threshold is None else threshold,
        )
        ids = [name for name in self._ids() if name in frame.columns]
        kept = kept_columns(frame, [*ids, *keep], list(written.columns))
        return pd.concat([kept, written], axis=1)

    def audit(self, table: Any, *, unknown: str | None = None, shift: bool = False) -> Audit:
        """Measure accuracy and gaps on a table with labels and sensitive columns.

        With ``shift`` the audit goes on under shifts of the population, beside an
        unconstrained model: a logistic regression, cross-fitted on the audited rows
        because a model holds no training rows.
        """
        return self.audited(as_frame(table), unknown=unknown).audit(self.classifier, shift=shift)

    def audited(self, table: pd.DataFrame, *, unknown: str | None = None) -> "AuditedRows":
        """Return features, labels and groups of a table as an audit needs them."""
        roles, known = self._known()
        require_columns(table, replace(roles, drop=()))
        y = known_label_codes(table[roles.label], known.to_dict())
        features, reasons = self._features(table, unknown=unknown, first_row=0)
        if any(reasons):
            raise InputError(next(filter(None, reasons)))
        return AuditedRows(features, y, table[list(roles.sensitive)])

    def describe(self) -> dict[str, Any]:
        """Return what the model is about, as plain data: columns, values, rows, certificate."""
        known = {} if self.provenance is None else self.provenance.to_dict()
        if self.provenance is not None:
            known["selected"] = self.provenance.selected
        return {**known, "threshold": self.classifier.threshold_}

    def summary(self) -> str:
        """Say in plain words what the model is, what is certified, and what was measured."""
        lines = [] if self.provenance is None else self.provenance.lines()
        lines += str(self.certificate).splitlines()
        if self.measured is not None:
            lines.append(f"Measured on {self.measured.n_rows:,} held-out rows:")
            lines += [
                f"  {name.replace('_', ' ')}: {value:.4f}"
                for name, value in self.measured.summary().items()
                if name in _MEASURED and value is not None
            ]
        if self.provenance is not None:
            lines += [f"Note: {note}" for note in self.provenance.notes]
        return "\n".join(lines)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically; nothing in it is code."""
        training = {} if self.provenance is None else self.provenance.to_dict()
        save(self.classifier, path, encoder=self.encoder, training=training)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, module: nn.Module | None = None) -> Self:
        """Read a model from a file, of this version or an older one.

        ``module`` is needed for models of a module: a file holds weights, not code.
        """
        saved = read_model(path, module=module)
        provenance = Provenance.from_dict(saved.training) if saved.training else None
        return cls(saved.classifier, saved.encoder, _roles(provenance, saved.encoder), provenance)

    def _features(
        self, table: pd.DataFrame, *, unknown: str | None, first_row: int
    ) -> tuple[Any, list[str]]:
        if self.encoder is None:
            return matrix_of(self.classifier, table), [""] * len(table)
        encoder = self.encoder
        if unknown is not None:
            _validate.one_of(UNKNOWN, unknown=unknown)
            encoder = replace(encoder, unknown=unknown)
        return encoder.transform(table), [""] * len(table)

    def _known(self) -> tuple[Roles, Provenance]:
        provenance = self.provenance or Provenance.from_dict({})
        return self.roles or _require_roles(provenance), provenance

    def _labels(self) -> tuple[Any, Any]:
        if self.provenance is None:
            negative, positive = self.classifier.classes_.tolist()
            return negative, positive
        return self.provenance.negative, self.provenance.positive

    def _ids(self) -> tuple[str, ...]:
        return () if self.provenance is None else self.provenance.ids


@dataclass(frozen=True)
class AuditedRows:
    """Rows as an audit needs them: features, 0/1 labels, sensitive columns."""

    X: Any
    y: Labels
    sensitive: pd.DataFrame

    def audit(self, classifier: FairSmoothClassifier, *, shift: bool = False) -> Audit:
        """Audit a classifier on these rows."""
        return audit(
            classifier,
            self.X,
            np.asarray(classifier.classes_)[self.y],
            sensitive_features=self.sensitive,
            shift=shift,
            reference=OutOfFold.of(self.X, self.y) if shift else None,
        )


_MEASURED = ("accuracy", "demographic_parity", "equalized_odds_sum", "equalized_odds_max")


def _roles(provenance: Provenance | None, encoder: TableEncoder | None) -> Roles | None:
    if provenance is None:
        return None
    unknown = "error" if encoder is None else encoder.unknown
    return Roles(
        provenance.label,
        provenance.sensitive,
        provenance.positive,
        provenance.drop,
        provenance.include_sensitive,
        unknown,
    )


def _require_roles(provenance: Provenance) -> Roles:
    roles = _roles(provenance, None)
    assert roles is not None
    return roles
