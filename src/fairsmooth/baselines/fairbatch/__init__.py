"""FairBatch, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import EQUALIZED_ODDS, FromModule, Method, by_notion

METHODS = (
    Method(
        name="fairbatch",
        label="FairBatch",
        estimator=FromModule(f"{__name__}.classifier", "FairBatchClassifier"),
        reference="Roh et al., ICLR 2021",
        optimises="equal group losses, for equalized odds, equal opportunity or parity",
        notions="equalized odds, equal opportunity, demographic parity",
        grid=by_notion("alpha", 0.005, 0.001, 0.02, first=EQUALIZED_ODDS),
        quick={"n_epochs": 5, "learning_rate": 5e-3},
    ),
)
