"""One picture per table: ours, printed, control."""

import numpy as np
import pandas as pd

from fairsmooth.experiments import experiment
from fairsmooth.reporting.figures import as_svg
from fairsmooth.reporting.table_figures import table_figure

TABLE1, TABLE3 = experiment("table1"), experiment("table3")


def rows(methods=("fairsmooth", "unconstrained", "arl"), cases=TABLE1.cases, trials=3):
    """A row per method, case, columns, track and trial; figures that name their place."""
    found = []
    for place, method in enumerate(methods):
        for case in cases:
            for encoding in ("aif360", "binned"):
                for track in ("published", "tuned"):
                    for trial in range(trials):
                        found.append(
                            {
                                "case": case, "encoding": encoding, "track": track,
                                "method": method, "trial": trial, "status": "done",
                                "accuracy": 0.7 + 0.01 * place + 0.001 * trial,
                                "demographic_parity": 0.1 + 0.01 * place,
                                "equalized_odds_sum": 0.2, "mean_distance": 0.01 * (place + 1),
                                "epsilon": np.nan if method == "arl" else 0.01,
                            }
                        )  # fmt: skip
    return pd.DataFrame(found)


def test_a_panel_per_case_and_measure_with_every_printed_number():
    figure = table_figure(TABLE1, rows())
    assert len(figure.axes) == 2 * 3
    accuracy = figure.axes[0]
    assert accuracy.get_title(loc="left") == "Adult by sex: accuracy"
    (printed,) = (line for line in accuracy.lines if line.get_marker() == "D")
    names = [label.get_text() for label in accuracy.get_yticklabels()]
    assert names[0] == "FairSmooth"
    # The control is a line, not a row.
    assert "Unconstrained" not in names
    places = dict(zip(names, accuracy.get_yticks(), strict=True))
    shown = dict(zip(printed.get_ydata(), printed.get_xdata(), strict=True))
    assert shown[places["ARL"]] == 0.84
    assert len(shown) == 10


def test_means_stand_where_they_were_measured_and_the_control_is_a_dashed_line():
    figure = table_figure(TABLE1, rows())
    gap = figure.axes[1]
    dashed = [line for line in gap.lines if line.get_linestyle() == "--"]
    assert [line.get_xdata()[0] for line in dashed] == [0.11, 0.11]
    dots = [line for line in gap.lines if line.get_marker() in ("o", "x")]
    assert sorted({round(float(line.get_xdata()[0]), 6) for line in dots}) == [0.1, 0.12]
    # Two methods, two sources of columns, two tracks.
    assert len(dots) == 8


def test_legend_tells_the_tracks_where_there_are_two():
    texts = [text.get_text() for text in table_figure(TABLE1, rows()).legends[0].get_texts()]
    assert "all columns, as published" in texts
    assert texts[-1] == "printed in the paper"
    both = rows(cases=TABLE3.cases)
    texts = [
        text.get_text()
        for text in table_figure(TABLE3, both[both["track"] == "tuned"]).legends[0].get_texts()
    ]
    assert "all columns" in texts


def test_distances_are_on_a_logarithmic_scale_and_missing_ones_are_left_out():
    figure = table_figure(TABLE3, rows(cases=TABLE3.cases))
    assert [axes.get_xscale() for axes in figure.axes[:3]] == ["log", "log", "linear"]
    as_svg(figure)


def test_a_failed_method_and_a_single_trial_are_drawn_without_an_interval():
    table = rows(trials=1)
    table.loc[table["method"] == "arl", "status"] = "failed"
    text = as_svg(table_figure(TABLE1, table))
    assert text.startswith("<svg")


def test_a_printed_number_far_from_all_others_is_written_at_the_edge():
    table4 = experiment("table4")
    figure = table_figure(table4, rows(cases=table4.cases))
    gap = figure.axes[2]
    assert gap.get_title(loc="left") == "Adult by race: ΔEO"
    assert gap.get_xlim()[1] < 0.5
    assert [text.get_text() for text in gap.texts] == ["1.19 ▸"]


def test_no_picture_without_rows_or_of_a_curve():
    assert table_figure(TABLE1, rows().iloc[:0]) is None
    assert table_figure(experiment("figure1"), rows()) is None
    assert table_figure(experiment("ceilings"), rows()) is None
