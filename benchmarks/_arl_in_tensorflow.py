"""Train ARL's authors' model on rows from a file; run by ``beside_authors.py``.

Needs TensorFlow 2.15, the last with estimators, and nothing else of this repository. The
authors' module imports ``tensorflow.contrib``, which ended with TensorFlow 1; the two
functions of it that training calls are stood in for.

    python _arl_in_tensorflow.py MODULE ROWS.npz SCORES.npy SEED
"""

import importlib.util
import sys
import types
from typing import Any

import numpy as np
import tensorflow.compat.v1 as tf


def optimize_loss(*, loss: Any, variables: Any, global_step: Any, learning_rate: Any, **_: Any):
    """Take one step of Adagrad with its defaults; return the loss, as the original does."""
    optimizer = tf.train.AdagradOptimizer(learning_rate)
    gradients = optimizer.compute_gradients(loss, variables)
    updates = optimizer.apply_gradients(gradients, global_step=global_step)
    with tf.control_dependencies([updates]):
        return tf.identity(loss)


def stand_in_for_contrib() -> None:
    parts = {name: types.ModuleType(name) for name in ("framework", "layers", "metrics")}
    parts["framework"].get_global_step = tf.train.get_global_step
    parts["layers"].optimize_loss = optimize_loss
    contrib = types.ModuleType("tensorflow.contrib")
    for name, part in parts.items():
        setattr(contrib, name, part)
        sys.modules[f"tensorflow.contrib.{name}"] = part
    sys.modules["tensorflow.contrib"] = contrib


def loaded(path: str) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location("authors", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main() -> None:
    path, rows, scores, seed = sys.argv[1:]
    tf.disable_v2_behavior()
    tf.set_random_seed(int(seed))
    stand_in_for_contrib()
    data = np.load(rows)
    X, y, n_batches = data["X"], data["y"].astype(np.float32)[:, None], int(data["n_batches"])
    model = loaded(path)._AdversarialReweightingModel(
        [tf.feature_column.numeric_column("x", shape=(X.shape[1],))],
        "y",
        config=None,
        model_dir=None,
        primary_learning_rate=float(data["learning_rate"]),
        adversary_learning_rate=float(data["adversary_learning_rate"]),
        # Both updates raise the counter at every batch.
        pretrain_steps=2 * int(data["n_pretrain"]) - 1,
    )
    seen = tf.placeholder(tf.float32, (None, X.shape[1]))
    labels = tf.placeholder(tf.float32, (None, 1))
    spec = model._get_model_fn()({"x": seen}, {"y": labels}, tf.estimator.ModeKeys.TRAIN)
    generator, batch_size = np.random.default_rng(int(seed)), int(data["batch_size"])
    threads = {"intra_op_parallelism_threads": 1, "inter_op_parallelism_threads": 1}
    with tf.Session(config=tf.ConfigProto(**threads)) as session:
        session.run(tf.global_variables_initializer())
        order: list[np.ndarray] = []
        for _ in range(n_batches):
            if not order:
                whole = generator.permutation(len(X))[: len(X) - len(X) % batch_size]
                order = np.split(whole, len(whole) // batch_size)
            batch = order.pop()
            session.run(spec.train_op, {seen: X[batch], labels: y[batch]})
        assert session.run(tf.train.get_global_step()) == 2 * n_batches
        unseen = {seen: data["test"], labels: np.zeros((len(data["test"]), 1))}
        np.save(scores, session.run(spec.predictions["y", "logistic"], unseen))


if __name__ == "__main__":
    main()
