"""Train, certify, audit and save a classifier on embedded data."""

import tempfile
from pathlib import Path

from fairsmooth import FairSmoothClassifier
from fairsmooth.datasets import load_compas
from fairsmooth.metrics import audit
from fairsmooth.persistence import load, save
from fairsmooth.verify import verify

data = load_compas(encoding="binned", sensitive="race")
train, test = data.split(test_size=0.3, random_state=0)

clf = FairSmoothClassifier(sigma=1.0, alpha=0.25)
clf.fit(train.X, train.y, sensitive_features=train.sensitive_features)
print(clf.certificate_)

result = audit(clf, test.X, test.y, sensitive_features=test.sensitive_features)
print(result.to_frame()[["metric", "group", "value", "low", "high", "bound"]].head(12))

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model.safetensors"
    save(clf, path)
    print(verify(path))
    assert (load(path).predict(test.X) == clf.predict(test.X)).all()
