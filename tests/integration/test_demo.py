"""The demonstration as a newcomer runs it, on the smaller dataset."""

import json

import pytest
from tests.integration.hiring import run

from fairsmooth.cli import demo
from fairsmooth.exceptions import NoGuarantee
from fairsmooth.tables import TableModel, guaranteed
from fairsmooth.verify import verify

DEMO = ["demo", "--dataset", "compas", "--sensitive", "race", "--max-dp", "0.1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo")


def test_the_story_has_five_parts_and_a_report_with_both_models(folder, capsys):
    code, out, err = run(capsys, *DEMO, "--out", folder)
    assert code == 0
    assert [out.index(f"\n{part}. ") for part in range(1, 6)] == sorted(
        out.index(f"\n{part}. ") for part in range(1, 6)
    )
    assert "Wrote report.html, model.safetensors, guaranteed.safetensors, test.csv" in err
    paper, other = (
        TableModel.load(folder / f"{name}.safetensors") for name in ("model", "guaranteed")
    )
    assert paper.classifier.group_weights == "equal"
    assert other.guarantee.holds
    assert verify(folder / "model.safetensors").holds
    assert str(paper.certificate).splitlines()[-1] in out
    assert str(other.guarantee).splitlines()[1] in out
    page = (folder / "report.html").read_text()
    shown = other.audit(folder / "test.csv").summary()
    for value in (shown["accuracy"], shown["demographic_parity"]):
        assert f"{value:.4f}" in page
        assert f"{value:.4f}" in out
    assert "Trained to a guarantee" in page


def test_without_a_guarantee_the_story_says_so(tmp_path, capsys, monkeypatch):
    def refuse(*args, tell, **options):
        tell("The safety rows guarantee it with probability about 0.01.")
        raise NoGuarantee("No model can be guaranteed: <reason>.", None)

    monkeypatch.setattr(guaranteed, "fit_guaranteed", refuse)
    code, out, _ = run(capsys, *DEMO, "--out", tmp_path / "new", "--json")
    document = json.loads(out)
    assert code == 0
    assert document["guaranteed"] is None
    assert document["no_guarantee"] == "No model can be guaranteed: <reason>."
    assert document["verified"] == {"The paper's model": ["The certificate holds."]}
    assert {"accuracy", "epsilon", "tying_cost", "groups", "seconds"} <= set(document)
    assert "&lt;reason&gt;" in (tmp_path / "new" / "report.html").read_text()
    assert not (tmp_path / "new" / "guaranteed.safetensors").exists()
    assert run(capsys, *DEMO, "--out", tmp_path / "new")[1].count("<reason>") == 1


def test_what_does_not_verify_is_exit_code_1(tmp_path, capsys, monkeypatch):
    def refuse(*args, **options):
        raise NoGuarantee("None.", None)

    broken = (("The certificate does NOT hold.",), False)
    monkeypatch.setattr(guaranteed, "fit_guaranteed", refuse)
    monkeypatch.setattr(demo, "_verdicts", lambda model, rows: broken)
    code, out, _ = run(capsys, *DEMO, "--out", tmp_path)
    assert code == 1
    assert "does NOT hold" in out
