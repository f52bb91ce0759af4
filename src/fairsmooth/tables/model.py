"""TableModel: encoder, roles, classifier, certificate and provenance in one object."""

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd

from fairsmooth import _validate
from fairsmooth.core.certificate import Certificate
from fairsmooth.data.encoders import Encoder
from fairsmooth.data.encoding import UNKNOWN
from fairsmooth.data.frames import as_frame, like
from fairsmooth.data.known_texts import frame_with_texts
from fairsmooth.data.roles import Roles, name_of, names_of
from fairsmooth.guarantees import GapGuarantee, Limits
from fairsmooth.metrics import Audit
from fairsmooth.persistence import read_model, save
from fairsmooth.tables import scoring
from fairsmooth.tables.auditing import SAME_TABLE, AuditedRows, known_rows
from fairsmooth.tables.deciding import checked_threshold, with_threshold
from fairsmooth.tables.explained import explain_table
from fairsmooth.tables.provenance import Provenance

if TYPE_CHECKING:
    from torch import nn

    from fairsmooth.columns import Forecasts
    from fairsmooth.estimator import FairSmoothClassifier


@dataclass(frozen=True)
class TableModel:
    """A classifier that knows its table.

    Attributes
    ----------
    classifier : FairSmoothClassifier
        Fitted.
    encoder : TableEncoder, ForecastEncoder or None
        Turns the table's columns into the classifier's features.
    roles : Roles or None
        Which column plays which part; None if the file does not say.
    provenance : Provenance or None
        Where the model came from; None if the file does not say.
    guarantee : GapGuarantee or None
        A guarantee of the gaps, if the model was trained to one.
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

    classifier: "FairSmoothClassifier"
    encoder: Encoder | None = None
    roles: Roles | None = None
    provenance: Provenance | None = None
    guarantee: GapGuarantee | None = None
    measured: Audit | None = None

    @classmethod
    def fit(
        cls,
        table: Any,
        *,
        label: str,
        sensitive: str | Sequence[str],
        positive: Any = None,
        ids: str | Sequence[str] = (),
        drop: str | Sequence[str] = (),
        columns: "str | Forecasts" = "auto",
        classifier: "FairSmoothClassifier | None" = None,
        guarantee: Limits | None = None,
        test_size: float = 0.3,
        random_state: int | None = None,
        include_sensitive: bool = False,
        unknown: str = "error",
        strict: bool = False,
    ) -> Self:
        """Split a table, train and certify on one part, audit on the other.

        Parameters
        ----------
        table : DataFrame, polars or pyarrow table, or path
            One row per case.
        label : str
            The column to predict; two values.
        sensitive : str or sequence of str
            Sensitive columns; groups are their combinations. ``"age:4"`` cuts a column
            of numbers into 4 bands.
        positive : value, optional
            The positive label. May be left out where the two values are unmistakable,
            such as 0 and 1, or no and yes.
        ids, drop : str or sequences of str
            Columns that name rows, and columns not to use.
        columns : str or Forecasts
            "auto", "binned", "standardised", "crossed", "forecasts" or "label-forecast": what
            becomes of numbers; fine intervals and products of rough ones; or forecasts of label
            and group, or of the label alone, instead of all columns.
        classifier : FairSmoothClassifier, optional
            Its settings are used; it is not changed. If it is left out, groups weigh by
            their share of the rows.
        guarantee : Limits, optional
            Return only a model whose gaps are guaranteed to keep these limits. The held-out
            rows are then safety rows, split off by group alone and tested once.
        test_size : float
            Share of the rows to hold out, by group and label.
        random_state : int, optional
            Seeds the split, and the training if the classifier has no seed.
        include_sensitive : bool
            Whether the sensitive columns are features too.
        unknown : {"error", "ignore"}
            What a category does at prediction that training did not have.
        strict : bool
            Whether a row without a label or group is an error; otherwise it is left out,
            and a note says how many were.

        Returns
        -------
        TableModel

        Raises
        ------
        NoGuarantee
            With ``guarantee``, if the limits cannot be guaranteed; the safety rows are spent.
        """
        from fairsmooth.tables.fitting import default_classifier, drawn_seed, fit_table

        _validate.one_of(UNKNOWN, unknown=unknown)
        seed = drawn_seed() if random_state is None else random_state
        roles = Roles(
            label=name_of(label),
            sensitive=names_of(sensitive),
            positive=positive,
            ids=names_of(ids),
            drop=names_of(drop),
            include_sensitive=include_sensitive,
            unknown=unknown,
        )
        how: dict[str, Any] = {
            "classifier": default_classifier(classifier, seed),
            "columns": columns,
            "test_size": test_size,
            "seed": seed,
            "strict": strict,
        }
        if guarantee is None:
            return cls(**vars(fit_table(as_frame(table), roles, **how).model))
        from fairsmooth.tables.guaranteed import fit_guaranteed

        return cls(**vars(fit_guaranteed(as_frame(table), roles, guarantee, **how).model))

    @property
    def certificate(self) -> Certificate:
        """The certificate of the classifier."""
        return self.classifier.certificate_

    @property
    def text_columns(self) -> list[str]:
        """Columns that hold categories, whatever they look like in a new table."""
        return [] if self.encoder is None else self.encoder.text_columns

    def predict(
        self,
        table: Any,
        *,
        keep: str | Sequence[str] = (),
        threshold: float | None = None,
        unknown: str | None = None,
        strict: bool = False,
        first_row: int = 0,
    ) -> Any:
        """Score every row; the sensitive columns are not needed.

        Parameters
        ----------
        table : DataFrame, polars or pyarrow table, or path
            With the columns that the model was trained on.
        keep : str or sequence of str
            Columns to carry along, besides the ids.
        threshold : float, optional
            Decide positive above this score instead of the model's threshold.
        unknown : {"error", "ignore"}, optional
            Overrides what the model does with an unseen category.
        strict : bool
            Whether a row that cannot be scored is an error. Otherwise its score is
            missing, and a column ``reason`` says why.
        first_row : int
            Number of rows before the first one in the user's table, for messages.

        Returns
        -------
        DataFrame, or a polars or pyarrow table for one of those
            One row per row, in the same order: ids and kept columns, ``probability``,
            ``prediction``, ``lower_<group>`` and ``upper_<group>`` for every group.
        """
        decided_above = checked_threshold(self, threshold)
        frame = frame_with_texts(table, self.text_columns)
        for name in names_of(keep):
            _validate.known_column(name, list(frame.columns), where="the table")
        features, reasons = self._features(frame, unknown)
        if strict:
            scoring.refuse_reasons(reasons, first_row=first_row)
        written = scoring.score(self.classifier, features, reasons).frame(
            self.classifier.groups_,
            self._labels(),
            threshold=decided_above,
        )
        ids = [] if self.provenance is None else self.provenance.ids
        carried = [name for name in ids if name in frame.columns]
        kept = scoring.kept_columns(frame, [*carried, *names_of(keep)], list(written.columns))
        return like(table, pd.concat([kept, written], axis=1))

    def audit(
        self, table: Any, *, unknown: str | None = None, strict: bool = False, shift: bool = False
    ) -> Audit:
        """Measure accuracy and gaps on a table with sensitive columns, and labels if it has any.

        Rows that are left out are counted in a warning. ``strict`` and ``unknown`` are as in
        :meth:`fit`; ``shift`` adds shifted populations.
        """
        frame = frame_with_texts(table, self.text_columns)
        rows = self.audited(frame, unknown=unknown, strict=strict)
        for note in rows.notes:
            if note != SAME_TABLE:
                warnings.warn(note, UserWarning, stacklevel=2)
        return rows.audit(self.classifier, shift=shift)

    explain = explain_table
    with_threshold = with_threshold

    def audited(
        self, table: pd.DataFrame, *, unknown: str | None = None, strict: bool = False
    ) -> AuditedRows:
        """Return features, labels (None if it has none) and groups of a table for an audit."""
        known = self.provenance or Provenance.from_dict({})
        roles = replace(self.roles or known.roles(), drop=(), ids=())
        rows = known_rows(table, roles, known, groups=self.classifier.groups_, strict=strict)
        features, reasons = self._features(table, unknown)
        scored, unscored = scoring.scorable_rows(reasons, among=rows.usable, strict=strict)
        kept = scored[rows.usable]
        return AuditedRows(
            features[rows.usable & scored],
            None if rows.y is None else rows.y[kept],
            rows.sensitive[kept],
            (*rows.notes, *unscored),
        )

    def describe(self) -> dict[str, Any]:
        """Return what the model is about, as plain data."""
        known = self.provenance
        about = {} if known is None else {**known.to_dict(), "selected": known.selected}
        return {**about, "threshold": self.classifier.threshold_}

    def summary(self) -> str:
        """Say in plain words what the model is, what is certified, and what was measured."""
        from fairsmooth.tables.words import in_words

        return "\n".join(in_words(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, atomically; nothing in it is code."""
        training = {} if self.provenance is None else self.provenance.to_dict()
        parts: dict[str, Any] = {"encoder": self.encoder, "guarantee": self.guarantee}
        save(self.classifier, path, training=training, **parts)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, module: "nn.Module | None" = None) -> Self:
        """Read a model from a file of any version; ``module`` is needed where it has one."""
        saved = scoring.of_a_table(read_model(path, module=module))
        known = Provenance.from_dict(saved.training) if "label" in saved.training else None
        roles = None if known is None else known.roles()
        stated = saved.guarantee
        guarantee = None if stated is None else GapGuarantee.from_dict(stated)
        return cls(saved.classifier, saved.encoder, roles, known, guarantee)

    def _features(self, table: pd.DataFrame, unknown: str | None) -> tuple[Any, scoring.Reasons]:
        """Return the features, and None or a reason for every row."""
        if self.encoder is None:
            nothing = np.full(len(table), None, dtype=object)
            return scoring.matrix_of(self.classifier, table), nothing
        known = self.encoder if unknown is None else self.encoder.with_unknown(unknown)
        return known.encode_rows(table)

    def _labels(self) -> tuple[Any, Any]:
        known = self.provenance
        negative, positive = self.classifier.classes_.tolist()
        return (negative, positive) if known is None else (known.negative, known.positive)
