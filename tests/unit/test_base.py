"""The small installation: what works without the packages of any extra."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from fairsmooth import FairSmoothClassifier, _extras
from fairsmooth._extras import EXTRAS, installed, missing_extra
from fairsmooth._lazy import names_when_asked
from fairsmooth.core.few_rows import linear_scores_and_intervals
from fairsmooth.core.predictor import Predictor
from fairsmooth.core.smoothing import smooth_probability
from fairsmooth.exceptions import InputError, MissingExtra
from fairsmooth.tables import TableModel

# Runs commands as an installation without extras would, several in one process.
WITHOUT_EXTRAS = """
import contextlib, io, json, sys
from importlib.abc import MetaPathFinder

class Blocked(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

BLOCKED = set(json.loads(sys.argv[1]))
sys.meta_path.insert(0, Blocked())
from fairsmooth.cli.main import main
told = []
for command in json.loads(sys.argv[2]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        from fairsmooth.cli import output
        output.messages.file, output.results.file = err, out
        code = main(command)
    told.append([code, out.getvalue(), err.getvalue()])
assert not BLOCKED & set(sys.modules)
print(json.dumps(told))
"""


def run_without_extras(*commands):
    arguments = [json.dumps(sorted(EXTRAS)), json.dumps([list(map(str, c)) for c in commands])]
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS, *arguments],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def table(biased):
    city = ["north", "south", None, "east"] * (len(biased.y) // 4)
    return biased.X.assign(city=city, sex=biased.sensitive_features, hired=biased.y)


@pytest.fixture(scope="module")
def files(table, tmp_path_factory):
    folder = tmp_path_factory.mktemp("base")
    known, new = table.iloc[:400], table.iloc[400:]
    model = TableModel.fit(known, label="hired", sensitive="sex", random_state=0)
    model.save(folder / "linear.fair")
    network = FairSmoothClassifier((3,), max_iter=1, random_state=0)
    with pytest.warns(ConvergenceWarning):
        deep = TableModel.fit(
            known, label="hired", sensitive="sex", classifier=network, random_state=0
        )
    deep.save(folder / "network.fair")
    new.to_csv(folder / "new.csv", index=False)
    scores = model.predict(new)
    new.assign(score=scores["probability"].to_numpy()).to_csv(folder / "scored.csv", index=False)
    return folder, scores


def test_the_base_does_what_it_promises_without_any_extra(files):
    folder, expected = files
    model, new, scored = (folder / name for name in ("linear.fair", "new.csv", "scored.csv"))
    of_scores = (scored, "--scores", "score", "--label", "hired", "--sensitive", "sex")
    told = run_without_extras(
        ("verify", model),
        ("certificate", model, "--json"),
        ("guarantee", model, new, "--max-dp", 0.9, "-o", folder / "g.json"),
        ("guarantee", *of_scores, "--max-dp", 0.9),
        ("verify", model, "--guarantee", folder / "g.json", "--data", new),
        ("monitor", model, new, "--state", folder / "s.json", "--max-dp", 0.9),
        ("audit", *of_scores, "--standard", "nyc-ll144"),
        ("predict", model, new, "-o", folder / "out.csv"),
        ("predict", model, new, "-o", folder / "out.parquet"),
        ("explain", model, new, "--row", 1),
        ("list", "datasets"),
    )
    assert [code for code, *_ in told] == [0] * len(told), told
    assert "The certificate holds." in told[0][1]
    assert "The guarantee holds." in told[4][1]
    for found in (pd.read_csv(folder / "out.csv"), pd.read_parquet(folder / "out.parquet")):
        assert list(found) == list(expected)
        assert (found["prediction"] == expected["prediction"]).all()
        numbers = [name for name in expected if name != "prediction"]
        np.testing.assert_allclose(found[numbers], expected[numbers], rtol=0, atol=2e-9)


def test_what_needs_an_extra_says_which_in_one_line(files):
    folder, _ = files
    model, new = folder / "linear.fair", folder / "new.csv"
    train = ("--label", "hired", "--sensitive", "sex")
    told = run_without_extras(
        ("train", new, *train, "-o", folder / "x.fair"),
        ("demo", "--out", folder / "demo"),
        ("predict", folder / "network.fair", new, "-o", folder / "x.csv"),
        ("audit", model, new),
        ("verify", model, "--attack", 1),
    )  # fmt: skip
    for code, out, err in told:
        assert (code, out) == (2, ""), (out, err)
        (line,) = [line for line in err.splitlines() if not line.startswith("Note:")]
        assert line.startswith("Error: ")
        assert "needs fairsmooth[train]: pip install 'fairsmooth[train]'." in line
    (code, _, err), (other, _, text), (third, _, page), (last, _, tables) = run_without_extras(
        ("export", model, "--onnx", folder / "m.onnx"), ("tune", new, *train, "-o", folder / "t"),
        ("monitor", model, new, "--state", folder / "t.json", "--max-dp", 0.9,
         "--report", folder / "m.html"),
        ("reproduce", "table1"),
    )  # fmt: skip
    assert (code, other, third, last) == (2, 2, 2, 2)
    assert "pip install 'fairsmooth[" in tables
    assert "pip install 'fairsmooth[report]'" in page
    assert "pip install 'fairsmooth[onnx]'" in err
    assert "pip install 'fairsmooth[" in text


def test_a_package_of_an_extra_is_asked_for_by_name():
    found = missing_extra(ModuleNotFoundError("No module named 'torch.nn'", name="torch.nn"))
    assert str(found) == "This needs fairsmooth[train]: pip install 'fairsmooth[train]'."
    assert missing_extra(ModuleNotFoundError("No module named 'x'", name="x")) is None
    assert not installed("a_package_that_is_not_there")


def test_a_public_name_of_an_extra_says_what_to_install(monkeypatch):
    def absent(name):
        raise ModuleNotFoundError(f"No module named {name!r}", name="torch")

    monkeypatch.setattr("fairsmooth._lazy.import_module", absent)
    with pytest.raises(MissingExtra, match=r"needs fairsmooth\[train\]"):
        names_when_asked({"__name__": "fairsmooth"}, {"tune": "fairsmooth.tuning"})("tune")


@pytest.mark.parametrize("link", ["logistic", "probit"])
@pytest.mark.parametrize("sigma", [0.0, 0.3, 5.0])
def test_scores_without_torch_are_those_with_it(link, sigma):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 4)) * 10.0 ** rng.uniform(-2, 3, size=(9000, 1))
    X[:3] *= np.array([[1e98], [1e150], [1e300]])
    parameters = rng.normal(size=5)
    scores, ends = linear_scores_and_intervals(parameters, X, sigma=sigma, link=link)
    expected, _ = smooth_probability(
        (), parameters, X, sigma=sigma, link=link, return_interval=True
    )
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9)
    assert (ends[:, 0] <= scores).all()
    assert (scores <= ends[:, 1]).all()
    assert sigma == 0.0 or ((ends[:, 1] - ends[:, 0]) >= 0.9e-9).all()
    assert linear_scores_and_intervals(parameters, X[:0], sigma=sigma, link=link)[1].shape == (0, 2)


def test_a_predictor_predicts_what_the_estimator_does(biased, monkeypatch):
    clf = FairSmoothClassifier(random_state=0).fit(
        biased.X, biased.y, sensitive_features=biased.sensitive_features
    )
    names = list(clf.feature_names_in_)
    light = Predictor(
        clf.rule_, groups=clf.groups_, classes=clf.classes_, n_features=len(names), names=names
    )
    X = biased.X.to_numpy()
    monkeypatch.setattr("fairsmooth.core.rule.installed", lambda name: False)
    assert (light.predict(X) == clf.predict(biased.X)).all()
    np.testing.assert_allclose(light.predict_proba(X), clf.predict_proba(biased.X), atol=2e-9)
    assert light.predict_interval(X).shape == (len(X), len(clf.groups_), 2)
    with pytest.raises(InputError, match=r"Expected finite rows of 5 features, got shape \(2, 3\)"):
        light.predict(np.zeros((2, 3)))


def test_every_package_beyond_the_base_has_its_extra():
    """What ``pyproject.toml`` lists under an extra is what the messages name."""
    import tomllib
    from pathlib import Path

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    distributions = {"sklearn": "scikit-learn", "vl_convert": "vl-convert-python", "yaml": "pyyaml"}
    for package, extra in _extras.EXTRAS.items():
        listed = " ".join(project["optional-dependencies"][extra])
        assert distributions.get(package, package) in listed
    base = " ".join(project["dependencies"])
    assert not [p for p in _extras.EXTRAS if distributions.get(p, p) in base]
