"""A changed graph is refused, whatever was changed in it."""

import base64
import json

import numpy as np
import onnx
import pandas as pd
import pytest
from onnx import numpy_helper
from tests.unit.verify.forged import as_format_1, model, write

from fairsmooth.exceptions import InputError, ModelFileError
from fairsmooth.export import write_onnx
from fairsmooth.persistence import file_digest, layout
from fairsmooth.tables import TableModel
from fairsmooth.verify import verify
from fairsmooth.verify._json import canonical
from fairsmooth.verify._model_file import read_model_file
from fairsmooth.verify._rule import text_of_rule


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({
        "job": rng.choice(["clerk", "nurse", "7", None], 300), "x": rng.normal(size=300),
        "few": rng.integers(0, 4, 300), "sex": rng.choice(["f", "m"], 300),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, 300), "D"),
        "hired": rng.integers(0, 2, 300),
    })  # fmt: skip
    for columns in ("binned", "standardised"):
        model = TableModel.fit(
            table, label="hired", sensitive="sex", columns=columns, random_state=0
        )
        model.save(folder / f"{columns}.safetensors")
        write_onnx(folder / f"{columns}.safetensors", folder / f"{columns}.onnx")
    write_onnx(folder / "binned.safetensors", folder / "encoded.onnx", encoded=True)
    return folder


@pytest.mark.parametrize("name", ["binned", "standardised", "encoded"])
def test_a_graph_as_it_was_written_holds(files, name):
    found = verify(files / f"{name}.onnx")
    assert found.holds, found
    assert {"graph", "weights", "scores", "intervals", "metadata"} <= {
        check.name for check in found.checks
    }


def altered(files, name, change):
    model = onnx.load(files / f"{name}.onnx")
    change(model)
    onnx.save(model, files / "altered.onnx")
    return verify(files / "altered.onnx")


def every_constant(files, name):
    return [entry.name for entry in onnx.load(files / f"{name}.onnx").graph.initializer]


def nudge(name, step=1e-4):
    def change(model):
        entry = next(t for t in model.graph.initializer if t.name == name)
        values = numpy_helper.to_array(entry).copy()
        if values.dtype == object:
            values.flat[0] = values.flat[0] + "x"
        elif values.dtype.kind == "i":
            values.flat[0] ^= 1
        elif np.isnan(values.flat[0]):
            values.flat[0] = 0.0
        else:
            # Inward, so that no interval merely grows; all of them, since some hardly count.
            values -= np.abs(values) * step + step
        entry.CopyFrom(numpy_helper.from_array(values, name))

    return change


@pytest.mark.parametrize("name", ["standardised", "encoded"])
def test_any_constant_that_is_changed_is_refused(files, name):
    for constant in every_constant(files, name):
        if constant in ("/infinity", "/huge"):
            continue  # less by any finite step is the same, or as good
        assert not altered(files, name, nudge(constant)).holds, constant


def test_a_weight_changed_in_its_last_digit_is_refused(files):
    def change(model):
        entry = next(t for t in model.graph.initializer if t.name == "/table")
        values = numpy_helper.to_array(entry).copy()
        values[1, 0] = np.nextafter(values[1, 0], np.inf)
        entry.CopyFrom(numpy_helper.from_array(values, entry.name))

    found = altered(files, "binned", change)
    assert [check.name for check in found.failures] == ["weights"]


def swap_branches(model):
    node = next(n for n in model.graph.node if n.output[0] == "decision")
    node.input[1], node.input[2] = node.input[2], node.input[1]


def add_a_node(model):
    last = model.graph.node.pop()
    model.graph.node.extend([
        onnx.helper.make_node("Identity", ["/both_ends"], ["/copy"]), last,
    ])  # fmt: skip


def another_operation(model):
    next(n for n in model.graph.node if n.op_type == "Greater").op_type = "Less"


def another_category(model):
    node = next(n for n in model.graph.node if n.op_type == "LabelEncoder")
    entry = next(a for a in node.attribute if a.name == "keys_strings")
    entry.strings[-1] = b"0:manager"


def another_pattern(model):
    node = next(n for n in model.graph.node if n.op_type == "RegexFullMatch")
    node.attribute[0].s = b"never"


def another_certificate(model):
    entry = next(p for p in model.metadata_props if p.key == "certificate")
    entry.value = entry.value.replace('"epsilon_tight": 0.', '"epsilon_tight": 0.0')


def another_digest(model):
    next(p for p in model.metadata_props if p.key == "file_digest").value = "0" * 64


def the_digest_of_another_rule(model):
    next(p for p in model.metadata_props if p.key == "digest").value = "0" * 64


def groups_in_another_order(model):
    entry = next(p for p in model.metadata_props if p.key == "groups")
    entry.value = json.dumps(json.loads(entry.value)[::-1])


def labels_the_other_way_round(model):
    entry = next(p for p in model.metadata_props if p.key == "labels")
    entry.value = json.dumps(json.loads(entry.value)[::-1])


def a_damaged_model(model):
    entry = next(p for p in model.metadata_props if p.key == "model")
    contents = bytearray(base64.b64decode(entry.value))
    contents[-5] ^= 1
    entry.value = base64.b64encode(contents).decode()


def an_input_that_overrides(model):
    weights = next(t for t in model.graph.initializer if t.name == "/table")
    model.graph.input.append(
        onnx.helper.make_tensor_value_info("/table", onnx.TensorProto.DOUBLE, weights.dims)
    )


def another_version(model):
    model.opset_import[0].version = 21


@pytest.mark.parametrize(
    "change",
    [
        swap_branches, add_a_node, another_operation, another_category, another_pattern,
        another_certificate, another_digest, the_digest_of_another_rule, a_damaged_model,
        an_input_that_overrides,
        another_version, groups_in_another_order, labels_the_other_way_round,
    ],
    ids=lambda change: change.__name__,
)  # fmt: skip
def test_other_changes_are_refused(files, change):
    assert not altered(files, "binned", change).holds


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("name", ["binned", "standardised"])
def test_the_digest_of_the_rule_is_that_of_the_library(files, name, old, path):
    file = read_model_file(files / f"{name}.safetensors")
    plain = json.loads(file.description)
    if old:
        text = canonical(as_format_1(plain))
        layout.write(path, text, file.tensors)
        file, plain = read_model_file(path), json.loads(text)
    else:
        path = files / f"{name}.safetensors"
    assert file.recomputed_digest(text_of_rule(plain)) == file_digest(path)


def test_metadata_that_two_readers_may_read_differently_are_refused(files):
    def change(model):
        entry = model.metadata_props.add()
        entry.key, entry.value = "groups", '["m", "f"]'

    with pytest.raises(ModelFileError, match="Expected every entry of the metadata once"):
        altered(files, "binned", change)


def test_the_graph_of_another_model_is_refused(files):
    other = onnx.load(files / "standardised.onnx")

    def change(model):
        model.graph.CopyFrom(other.graph)

    assert not altered(files, "binned", change).holds


@pytest.mark.parametrize("contents", [b"", b"no protobuf at all", b"\x08\x07"])
def test_a_file_that_is_no_graph_of_ours(contents, tmp_path):
    (tmp_path / "x.onnx").write_bytes(contents)
    with pytest.raises(ModelFileError, match="Expected an ONNX file written by fairsmooth export"):
        verify(tmp_path / "x.onnx")
    with pytest.raises(ModelFileError, match="Expected an ONNX file"):
        verify(tmp_path / "none.onnx")


def constant(model, name):
    return next(entry for entry in model.graph.initializer if entry.name == name)


def a_constant_twice(model):
    first = constant(model, "/shifts")
    model.graph.initializer.add().CopyFrom(first)
    # The verifier would read the last one, another reader the first.
    first.CopyFrom(numpy_helper.from_array(0.0 * numpy_helper.to_array(first), "/shifts"))


def a_constant_in_two_places(model):
    entry = constant(model, "/shifts")
    entry.double_data.extend([0.0] * len(numpy_helper.to_array(entry).ravel()))


def a_size_below_zero(model):
    entry = constant(model, "/shifts")
    del entry.dims[:]
    entry.dims.append(-1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (a_constant_twice, "Expected every constant once"),
        (a_constant_in_two_places, "Expected a constant with one reading, got '/shifts'"),
        (a_size_below_zero, "Expected a constant with one reading, got '/shifts'"),
    ],
)
def test_constants_that_two_readers_may_read_differently_are_refused(files, change, message):
    with pytest.raises(ModelFileError, match=message):
        altered(files, "binned", change)


@pytest.mark.parametrize("values", [np.array(["x"], dtype=object), np.zeros(2, dtype=np.float32)])
@pytest.mark.parametrize("name", ["/shifts", "/bounds", "/wave_amplitudes", "/half"])
def test_constants_of_another_type_are_refused(files, name, values):
    def change(model):
        constant(model, name).CopyFrom(numpy_helper.from_array(values, name))

    assert "in float64, got another type" in str(altered(files, "binned", change))


def linear_file(path, sigma, scale=1.0, n_groups=3):
    write(path, *model(sigma=sigma, scale=scale, n_groups=n_groups))
    graph = path.with_suffix(".onnx")
    write_onnx(path, graph)
    return graph


@pytest.mark.parametrize(
    ("sigma", "scale", "n_groups"), [(0.5, 1e9, 3), (1e-9, 1.0, 3), (0.0, 1.0, 1)]
)
def test_margins_must_allow_for_rounded_logits(path, sigma, scale, n_groups):
    graph = linear_file(path, sigma, scale, n_groups)
    assert verify(graph).holds
    changed = onnx.load(graph)
    margins = np.array([0.5, 0.5 + 1.4e-9, 0.5 + 1.4e-9])  # enough for weights of any usual size
    constant(changed, "/half").CopyFrom(numpy_helper.from_array(margins, "/half"))
    onnx.save(changed, graph)
    assert {check.name for check in verify(graph).failures} == {"scores"}


def test_noise_that_cannot_be_squared_is_refused(path):
    with pytest.raises(InputError, match=r"Expected sigma below 1e\+150, got 1e\+200"):
        linear_file(path, 1e200)


def test_a_graph_around_a_model_of_such_noise_is_no_error(path):
    graph = linear_file(path, 0.5)
    write(path, *model(sigma=1e200))
    changed = onnx.load(graph)
    facts = {entry.key: entry for entry in changed.metadata_props}
    inside = read_model_file(path)
    plain = json.loads(inside.description)
    facts["model"].value = base64.b64encode(path.read_bytes()).decode()
    facts["file_digest"].value = inside.digest
    facts["digest"].value = inside.recomputed_digest(text_of_rule(plain))
    facts["certificate"].value = json.dumps(plain["certificate"])
    onnx.save(changed, graph)
    assert "Expected 'noise' as in the certified model" in str(verify(graph))
