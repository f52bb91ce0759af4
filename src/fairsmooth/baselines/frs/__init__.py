"""FRS, as it is declared; ``classifier`` is the method."""

from fairsmooth.baselines._base import EQUALIZED_ODDS, FromModule, Method, by_notion

METHODS = (
    Method(
        name="frs",
        label="FRS",
        estimator=FromModule(f"{__name__}.classifier", "FRSClassifier"),
        reference="Roh et al., NeurIPS 2021",
        optimises="equal group losses on the rows of small loss, for wrong labels",
        notions="equalized odds, equal opportunity, demographic parity",
        grid=by_notion("tau", 0.9, 0.95, 0.8, first=EQUALIZED_ODDS),
        quick={"n_epochs": 8, "warm_start": 4, "learning_rate": 5e-3},
    ),
)
