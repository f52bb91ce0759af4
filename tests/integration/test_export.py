"""From the command line: export, verify, and what is refused, in one line."""

import json

import onnx
import pytest
from onnx import numpy_helper

from fairsmooth import FairSmoothClassifier
from fairsmooth.cli.main import main
from fairsmooth.datasets import make_biased
from fairsmooth.tables import TableModel


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("export")
    data = make_biased(n_samples=300, random_state=0)
    table = data.X.assign(sex=data.sensitive_features, hired=data.y)
    TableModel.fit(table, label="hired", sensitive="sex", random_state=0).save(place / "m")
    table.to_csv(place / "t.csv", index=False)
    return place


def test_export_and_verify(folder, capsys):
    assert main(["export", str(folder / "m"), "--onnx", str(folder / "m.onnx"), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["bytes"] == (folder / "m.onnx").stat().st_size
    assert set(written["inputs"].values()) == {"number"}
    assert main(["verify", str(folder / "m.onnx")]) == 0
    printed = capsys.readouterr().out
    assert "ok    weights: weights, edges and places are those certified, bit for bit" in printed
    assert "The certificate holds." in printed
    assert main(["verify", str(folder / "m.onnx"), "--attack", "0.2"]) == 0
    assert "attack" in capsys.readouterr().out


def test_a_guarantee_is_verified_with_the_graph(folder, capsys):
    guarantee = str(folder / "g.json")
    assert main(["export", str(folder / "m"), "--onnx", str(folder / "m.onnx")]) == 0
    assert "Check it with: fairsmooth verify" in capsys.readouterr().err
    data = make_biased(n_samples=400, random_state=1)
    safety = data.X.assign(sex=data.sensitive_features, hired=data.y)
    safety.to_csv(folder / "safety.csv", index=False)
    made = main(["guarantee", str(folder / "m"), str(folder / "safety.csv"), "--max-dp", "0.99",
                 "-o", guarantee])  # fmt: skip
    assert made == 0, capsys.readouterr().err
    assert main(["verify", str(folder / "m.onnx"), "--guarantee", guarantee]) == 0


def test_a_changed_weight_gives_exit_code_1(folder, capsys):
    assert main(["export", str(folder / "m"), "--onnx", str(folder / "e.onnx"), "--encoded"]) == 0
    model = onnx.load(folder / "e.onnx")
    entry = next(t for t in model.graph.initializer if t.name == "/weights")
    values = numpy_helper.to_array(entry).copy()
    values[0, 0] += 1e-9
    entry.CopyFrom(numpy_helper.from_array(values, entry.name))
    onnx.save(model, folder / "e.onnx")
    capsys.readouterr()
    assert main(["verify", str(folder / "e.onnx")]) == 1
    printed = capsys.readouterr().out
    assert "FAILS weights: Expected 'weights' as in the certified model" in printed
    assert "does NOT hold" in printed


def test_mistakes_are_one_line(folder, capsys):
    model = str(folder / "m")
    for arguments, message in (
        (["export", model, "--onnx", str(folder / "m.bin")], "Expected a file name that ends in"),
        (["export", model, "--onnx", model], "Expected an output other than the input"),
        (["export", str(folder / "t.csv"), "--onnx", str(folder / "x.onnx")], "Expected a model"),
        (["verify", str(folder / "none.onnx")], "Expected a model file, found none"),
    ):
        assert main(arguments) == 2
        error = capsys.readouterr().err
        assert message in error
        assert len(error.strip().splitlines()) == 1


def test_networks_are_refused(folder, capsys):
    data = make_biased(n_samples=200, random_state=0)
    table = data.X.assign(sex=data.sensitive_features, hired=data.y)
    classifier = FairSmoothClassifier((3,), max_iter=30, random_state=0, free_reference=False)
    model = TableModel.fit(
        table, label="hired", sensitive="sex", random_state=0, classifier=classifier
    )
    model.save(folder / "network")
    assert main(["export", str(folder / "network"), "--onnx", str(folder / "n.onnx")]) == 2
    assert "Expected a linear model, got hidden layers [3]" in capsys.readouterr().err
    assert not (folder / "n.onnx").exists()
