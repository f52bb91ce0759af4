"""``fairsmooth demo``: the whole story on embedded data, the paper's model and one beyond it."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fairsmooth.cli.limits import limits_of
from fairsmooth.cli.options import Json, Seed

if TYPE_CHECKING:
    import pandas as pd

    from fairsmooth.data.roles import Roles
    from fairsmooth.guarantees import Limits
    from fairsmooth.reporting.story import Chapter
    from fairsmooth.tables.fitting import Fitted

NAME = "demo"
PAPER, GUARANTEED, ROWS, REPORT = (
    "model.safetensors", "guaranteed.safetensors", "test.csv", "report.html"
)  # fmt: skip
# What the paper prints as FairSmooth's gap on Adult by sex.
LIMIT = 0.05
TEST_SIZE = 0.3
# A coarser search than that of `train`: a story should not keep anybody waiting.
HALVINGS = 4


def command(
    dataset: Annotated[
        str, typer.Option("--dataset", help="One of `fairsmooth list datasets`.")
    ] = "adult",
    sensitive: Annotated[
        str | None, typer.Option("--sensitive", help="One of its sensitive columns.")
    ] = None,
    max_dp: Annotated[
        float, typer.Option("--max-dp", help="Limit on the gap of selection rates to guarantee.")
    ] = LIMIT,
    out: Annotated[Path, typer.Option("--out", help="Folder for report, models and rows.")] = Path(
        "out/demo"
    ),
    seed: Seed = 0,
    json_output: Json = False,
) -> None:
    """Tell the story on embedded data, and write it as a report.

    The paper's model and its certificate; the gaps that it leaves; the same data trained to a
    guarantee; both verified by independent code.
    """
    from fairsmooth.cli.targets import require_folder

    folder = require_folder(out, (PAPER, GUARANTEED, ROWS, REPORT), inputs=[])
    limits = limits_of(max_dp, None, None, 0.95)
    from fairsmooth.cli.output import print_json, say
    from fairsmooth.data.frames import as_frame
    from fairsmooth.data.roles import Roles
    from fairsmooth.datasets import entry

    found = entry(dataset)
    chosen = sensitive or found.sensitive[0]
    roles = Roles(found.label_column, (chosen,), drop=found.drop, unknown="ignore")
    trained = _train(as_frame(found.table(chosen)), roles, limits, seed)
    chapters = _verified(trained, folder)
    title = f"{found.title}, groups by {chosen}"
    _report(title, chapters, trained, folder)
    if json_output:
        print_json(_document(trained, chapters))
    else:
        from fairsmooth.cli.story import print_story

        print_story(title, chapters, forecast=trained.forecast, missing=trained.missing)
    say(f"Wrote {', '.join(_written(trained))} to {folder}.")
    if not all(chapter.holds for chapter in chapters):
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Trained:
    paper: "Fitted"
    guaranteed: "Fitted | None"
    forecast: str
    missing: str | None


def _train(table: "pd.DataFrame", roles: "Roles", limits: "Limits", seed: int) -> _Trained:
    """Train both on the same rows; the guarantee is tested before anybody sees the others."""
    from fairsmooth.cli.output import progress
    from fairsmooth.estimator import FairSmoothClassifier
    from fairsmooth.exceptions import NoGuarantee
    from fairsmooth.tables.fitting import Parts, default_classifier
    from fairsmooth.tables.guaranteed import fit_guaranteed

    told: list[str] = []
    missing, guaranteed = None, None
    with progress("training to a guarantee") as update:
        try:
            guaranteed = fit_guaranteed(
                table, roles, limits, classifier=default_classifier(None, seed),
                test_size=TEST_SIZE, seed=seed, halvings=HALVINGS, tell=told.append,
                step=lambda text: update(description=text),
            )  # fmt: skip
        except NoGuarantee as error:
            missing = str(error)
        update(description="training the paper's model")
        began = time.perf_counter()
        parts = Parts.of(table, roles, test_size=TEST_SIZE, seed=seed, by_label=False)
        # As printed: every group weighs the same.
        classifier = FairSmoothClassifier(group_weights="equal", random_state=seed)
        classifier.fit(parts.X, parts.y, sensitive_features=parts.sensitive)
        update(description="auditing")
        paper = parts.fitted(classifier, began, shift=True)
    return _Trained(paper, guaranteed, " ".join(told), missing)


def _verified(trained: _Trained, folder: Path) -> list["Chapter"]:
    """Write the models and their rows, and verify the files."""
    from fairsmooth._atomic import ensure_folder
    from fairsmooth.data.files import write_chunks
    from fairsmooth.reporting.story import Chapter

    ensure_folder(folder)
    assert trained.paper.test is not None  # the table was in memory
    write_chunks(folder / ROWS, [trained.paper.test])
    models = [("The paper's model", PAPER, trained.paper)]
    if trained.guaranteed is not None:
        models.append(("Trained to a guarantee", GUARANTEED, trained.guaranteed))
    chapters = []
    for name, file, fitted in models:
        fitted.model.save(folder / file)
        chapters.append(Chapter(name, fitted, *_verdicts(folder / file, folder / ROWS)))
    return chapters


def _verdicts(model: Path, rows: Path) -> tuple[tuple[str, ...], bool]:
    from fairsmooth.cli.confirming import confirm_guarantee, verdict_on_guarantee
    from fairsmooth.persistence import read_contents
    from fairsmooth.verify import verify

    holds = verify(model).holds
    certificate = "The certificate holds." if holds else "The certificate does NOT hold."
    plain = read_contents(model).description.plain["guarantee"]
    if plain is None:
        return (certificate,), holds
    confirmed = confirm_guarantee(plain, model=model, data=rows)
    verdicts = (certificate, verdict_on_guarantee(plain, confirmed))
    return verdicts, holds and confirmed.holds


def _report(title: str, chapters: list["Chapter"], trained: _Trained, folder: Path) -> None:
    """Write one page: about the guaranteed model if there is one, the paper's beside it."""
    from fairsmooth._atomic import write_bytes
    from fairsmooth.cli.pages import ModelPage
    from fairsmooth.reporting.story import render_story

    opening = (
        "Two models of the same rows, judged on the same people, whom neither has seen. All the "
        f"rest of this page is about the {'second' if trained.guaranteed else 'first'} of them."
    )
    preface = render_story(opening, chapters, trained.missing)
    other = {"the paper's model": trained.paper.audit}
    if trained.guaranteed is None:
        about = ModelPage.of_fitted(trained.paper, folder / PAPER, table_file=ROWS)
        page = about.render(title, preface=preface)
    else:
        about = ModelPage.of_fitted(trained.guaranteed, folder / GUARANTEED, table_file=ROWS)
        page = about.render(title, beside=other, preface=preface)
    write_bytes(folder / REPORT, page.encode())


def _document(trained: _Trained, chapters: list["Chapter"]) -> dict[str, Any]:
    """Return the figures of the paper's model, and those of the other one beside them."""
    other = trained.guaranteed
    return {
        **trained.paper.summary(),
        "guaranteed": None if other is None else other.summary(),
        "no_guarantee": trained.missing,
        "verified": {chapter.name: list(chapter.verdicts) for chapter in chapters},
    }


def _written(trained: _Trained) -> list[str]:
    models = [PAPER] if trained.guaranteed is None else [PAPER, GUARANTEED]
    return [REPORT, *models, ROWS]
