"""Files made under one set of kernels load, verify and predict the same under the others."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from tools.kernels import KERNELS

ROOT = Path(__file__).parents[2]
# As docs/reproducibility.md promises, by the way the scores are computed.
TOLERANCE = {
    "linear": 1e-12, "many": 1e-12, "ball": 1e-12, "hidden": 1e-6, "sampled": 1e-5, "deep": 1e-5,
}  # fmt: skip

TRAIN = """
import sys, warnings, numpy as np
from dataclasses import replace
from fairsmooth import FairSmoothClassifier
warnings.simplefilter("ignore")  # two epochs make a model that can be saved, not a good one
from fairsmooth.persistence import save
folder = sys.argv[1]
rng = np.random.default_rng(0)
X = rng.normal(size=(240, 100))
y = (X[:, 0] + rng.normal(size=240) > 0).astype(int)
for name, n_groups, settings in (
    ("linear", 4, {}),
    ("many", 12, {}),
    ("ball", 4, {"center": "ball"}),
    ("sampled", 4, {"smoothing": "monte_carlo", "n_draws": 64}),
    ("hidden", 4, {"hidden_layer_sizes": (6,), "max_iter": 2}),
    ("deep", 4, {"hidden_layer_sizes": (4, 3), "max_iter": 2, "n_draws": 64}),
):
    clf = FairSmoothClassifier(sigma=0.5, random_state=0, free_reference=False, **settings)
    clf.fit(X, y, sensitive_features=np.arange(240) % n_groups)
    # L-BFGS leaves Fortran order; whatever the order, the file must load.
    clf.rule_ = replace(clf.rule_, group_parameters=np.asfortranarray(clf.group_parameters_))
    save(clf, f"{folder}/{name}")
"""

READ = """
import json, sys, numpy as np
from fairsmooth.persistence import file_digest, load
from fairsmooth.verify import verify
folder = sys.argv[1]
X = np.random.default_rng(1).normal(size=(90, 100))
out = {}
for name in ("linear", "many", "ball", "sampled", "hidden", "deep"):
    clf = load(f"{folder}/{name}")
    c = clf.certificate_
    scores = clf.predict_proba(X)[:, 1]
    assert (clf.predict_proba(X)[:, 1] == scores).all()  # the same call, the same bits
    pieces = [clf.predict_proba(X[i : i + 37])[:, 1] for i in range(0, len(X), 37)]
    out[name] = {
        "holds": verify(f"{folder}/{name}").holds,
        "digest": file_digest(f"{folder}/{name}"),
        "numbers": [c.epsilon, c.max_distance, *c.distances.values()],
        "scores": scores.tolist(),
        "pieces": np.concatenate(pieces).tolist(),
    }
print(json.dumps(out))
"""


def start(script, folder, kernels):
    environment = {**os.environ, **KERNELS[kernels], "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-W", "error", "-c", script, str(folder)]
    return subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finished(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out


def test_a_file_serves_every_machine(tmp_path):
    maker, *others = KERNELS
    reference = json.loads(finished(start(TRAIN + READ, tmp_path, maker)))
    readers = {name: start(READ, tmp_path, name) for name in others}
    found = {name: json.loads(finished(process)) for name, process in readers.items()}
    for reader, models in found.items():
        for name, model in models.items():
            assert model["holds"], (reader, name)
            assert model["digest"] == reference[name]["digest"]
            # Sums that enter a file are added in a fixed order: equal, not close.
            assert model["numbers"] == reference[name]["numbers"]
            for scores in (model["scores"], model["pieces"]):
                np.testing.assert_allclose(
                    scores, reference[name]["scores"], rtol=0, atol=TOLERANCE[name]
                )
