"""Model cards: what hubs read, both certificates, and names of strangers' tables made harmless."""

import json

import pandas as pd
import pytest
import yaml
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser
from tests.integration.hiring import mistake, run

from fairsmooth.datasets import make_biased
from fairsmooth.exceptions import InputError
from fairsmooth.guarantees import Limits, guarantee_gaps
from fairsmooth.persistence import file_digest
from fairsmooth.reporting.card import markdown_text, model_card
from fairsmooth.tables import TableModel

EVIL = "<script>|`x`[a](b)\n# y"


@pytest.fixture(scope="module")
def table():
    data = make_biased(n_samples=3000, random_state=0)
    return data.X.assign(sex=data.sensitive_features, hired=data.y)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("card")
    how = {"label": "hired", "random_state": 0}
    TableModel.fit(table, sensitive="sex", **how).save(folder / "plain.safetensors")
    limits = Limits(demographic_parity=0.4)
    guaranteed = TableModel.fit(table, sensitive="sex", guarantee=limits, **how)
    guaranteed.save(folder / "guaranteed.safetensors")
    strange = table.rename(columns={"sex": EVIL}).assign(**{EVIL: table["sex"] + EVIL})
    TableModel.fit(strange, sensitive=EVIL, **how).save(folder / "strange.safetensors")
    again = make_biased(n_samples=3000, random_state=1)
    safe = again.X.assign(sex=again.sensitive_features, hired=again.y)
    safe.to_csv(folder / "rows.csv", index=False)
    return folder


def split(card):
    _, metadata, text = card.split("---\n", 2)
    return yaml.safe_load(metadata), text


def html(card):
    parser = create_md_parser(MdParserConfig(), RendererHTML)
    return parser.render(split(card)[1])


def test_metadata_is_what_hubs_read(folder):
    metadata, text = split(model_card(folder / "plain.safetensors", licence="apache-2.0"))
    assert metadata["license"] == "apache-2.0"
    assert metadata["library_name"] == "fairsmooth"
    assert metadata["pipeline_tag"] == "tabular-classification"
    assert "model-index" not in metadata
    assert "nothing is guaranteed about the gaps between groups" in text


def test_what_was_measured_is_in_the_index(folder, table):
    model = TableModel.load(folder / "plain.safetensors")
    audit = model.audit(table)
    card = model_card(folder / "plain.safetensors", audit=audit, data="all rows", name="a: b")
    (entry,) = split(card)[0]["model-index"]
    assert entry["name"] == "a: b"
    (result,) = entry["results"]
    assert result["dataset"] == {"type": "tabular", "name": "all rows"}
    found = {metric["type"]: metric["value"] for metric in result["metrics"]}
    assert found["accuracy"] == pytest.approx(audit.summary()["accuracy"], abs=1e-6)
    assert found["demographic_parity_difference"] == pytest.approx(
        audit.summary()["demographic_parity"], abs=1e-6
    )
    assert set(split(card)[0]["metrics"]) == set(found)


def test_both_certificates_stand_in_the_card_and_it_never_varies(folder):
    path = folder / "guaranteed.safetensors"
    model, card = TableModel.load(path), model_card(path)
    shown = html(card)
    for line in (*str(model.certificate).splitlines(), *str(model.guarantee).splitlines()):
        assert line.strip().replace("  ", " ") in shown
    assert file_digest(path) in card
    assert model.guarantee.provenance["table"] in card
    assert model.provenance.digest in card
    assert model_card(path) == card


def test_names_of_columns_and_groups_are_shown_and_never_obeyed(folder):
    shown = html(model_card(folder / "strange.safetensors", name=EVIL))
    assert "<script" not in shown
    assert "<a " not in shown
    assert "&lt;script&gt;|`x`[a](b) # y" in shown
    assert shown.count("<h1>") == 1


@pytest.mark.parametrize("text", ["- a", "+ a", "1. a", "# a", "a_b_c", "$x$", "&lt;", "==="])
def test_text_is_shown_as_it_is(text):
    parser = create_md_parser(MdParserConfig(), RendererHTML)
    shown = text.replace("&", "&amp;")
    assert parser.render(markdown_text(text)) == f"<p>{shown}</p>\n"


def test_groups_of_few_people_have_no_rates(folder, table):
    few = pd.concat([table[table["sex"] == sex].head(n) for sex, n in (("g0", 9), ("g1", 50))])
    assert len(few) == 59
    card = model_card(
        folder / "plain.safetensors", audit=TableModel.load(folder / "plain.safetensors").audit(few)
    )
    assert "| g0 | fewer than 10 | | | | |" in card
    assert "| g1 | 50 | 0." in card


def test_a_guarantee_must_be_about_the_model(folder, table):
    other = guarantee_gaps(
        table["hired"], sensitive_features=table["sex"], limits={"demographic_parity": 0.9}
    )
    with pytest.raises(InputError, match="Expected a guarantee about this model"):
        model_card(folder / "plain.safetensors", guarantee=other)
    known = other.with_provenance(model=file_digest(folder / "plain.safetensors"), table="`x`")
    card = model_card(folder / "plain.safetensors", guarantee=known)
    assert "--guarantee GUARANTEE.json" in card
    assert "safety rows: `" not in card


def test_a_licence_is_an_identifier(folder):
    with pytest.raises(InputError, match="Expected a licence as model hubs spell it"):
        model_card(folder / "plain.safetensors", licence="MIT License\nevil: 1")


# the command


def test_the_command_writes_what_the_function_returns(folder, capsys, tmp_path):
    target = tmp_path / "README.md"
    arguments = ["card", folder / "guaranteed.safetensors", "--license", "mit"]
    code, out, err = run(capsys, *arguments, "-o", target)
    assert (code, out) == (0, "")
    assert target.read_text() == model_card(folder / "guaranteed.safetensors", licence="mit")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (0, target.read_text())
    assert "Wrote" not in err


def test_rows_can_be_given(folder, capsys):
    arguments = ["card", folder / "plain.safetensors", "--data", folder / "rows.csv"]
    code, out, err = run(capsys, *arguments)
    assert code == 0
    assert split(out)[0]["model-index"][0]["results"][0]["dataset"]["name"] == "rows.csv"
    assert "names no license" in err


def test_what_does_not_hold_gets_no_card(folder, capsys, tmp_path):
    guarantee = ["guarantee", folder / "plain.safetensors", folder / "rows.csv", "--max-dp", "0.4"]
    path, target = tmp_path / "g.json", tmp_path / "card.md"
    run(capsys, *guarantee, "-o", path)
    asked = ["card", folder / "plain.safetensors", "--guarantee", path, "-o", target]
    assert run(capsys, *asked)[0] == 0
    assert "With 95 % confidence" in target.read_text()
    target.unlink()
    stated = json.loads(path.read_text())
    stated["claims"][0]["bound"] /= 2
    stated["bounds"]["demographic_parity"] /= 2
    path.write_text(json.dumps(stated))
    code, out, err = run(capsys, *asked)
    assert (code, out) == (1, "")
    assert "There is no card for what does not hold." in err
    assert not target.exists()


def test_a_model_file_must_be_there(folder, capsys):
    assert "found none at" in mistake(capsys, "card", folder / "none.safetensors")


def test_rows_that_were_trained_on_are_called_that(folder, table, capsys):
    table.to_csv(folder / "trained.csv", index=False)
    code, out, _ = run(
        capsys, "card", folder / "plain.safetensors", "--data", folder / "trained.csv"
    )
    metadata, text = split(out)
    assert code == 0
    dataset = metadata["model-index"][0]["results"][0]["dataset"]
    assert dataset["name"] == "trained.csv, which it was trained from"
    assert "- This is the table that the model was trained from" in text
    code, out, _ = run(capsys, "card", folder / "plain.safetensors", "--data", folder / "rows.csv")
    assert "trained from" not in out


def test_the_digest_of_a_card_can_be_had_again(folder):
    card = model_card(folder / "plain.safetensors")
    assert 'persistence.file_digest("MODEL.safetensors")' in card
    assert f"rule: `{file_digest(folder / 'plain.safetensors')}`" in card
