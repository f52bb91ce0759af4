"""The faults that ``mutants.py`` tries: one line each, and the tests that should notice."""

from mutants import Fault

CERTIFICATE, OUTWARD = "src/fairsmooth/core/certificate.py", "src/fairsmooth/core/outward.py"
PARAMETERS, OBJECTIVE = "src/fairsmooth/core/parameters.py", "src/fairsmooth/core/objective.py"
PARITY, SPLITS = "src/fairsmooth/training/parity.py", "src/fairsmooth/data/splits.py"
PROBLEM = "src/fairsmooth/training/problem.py"
LIKELIHOOD = "src/fairsmooth/training/likelihood.py"
BOUNDS, EXACT = "src/fairsmooth/verify/_bounds.py", "src/fairsmooth/verify/_exact.py"
CHECKS = "src/fairsmooth/verify/_checks.py"
INTERVALS = "src/fairsmooth/metrics/intervals.py"
GAPS = "src/fairsmooth/metrics/gap_intervals.py"
EPSILON = "src/fairsmooth/metrics/auditing/epsilon.py"
SHIFT = "src/fairsmooth/metrics/shift/audit.py"
WORST = "src/fairsmooth/metrics/shift/worst_case.py"

TOGETHER = "src/fairsmooth/core/group_intervals.py"
COLUMNS = "src/fairsmooth/core/smoothing/columns.py"

BY_HAND = ("tests/unit/core/test_certificate.py",)
PROPERTIES = ("tests/property/test_certificate.py",)
OF_OBJECTIVE = ("tests/unit/core/test_objective.py",)
OF_PARITY = ("tests/unit/training/test_parity.py",)
OF_PROBLEM = ("tests/unit/training/test_problem.py",)
OF_LIKELIHOOD = ("tests/unit/training/test_likelihood.py",)
OF_BOUNDS = ("tests/unit/verify/test_bounds.py",)
OF_INTERVALS = ("tests/unit/metrics/test_intervals.py",)
OF_GAPS = ("tests/unit/metrics/test_gap_intervals.py",)
OF_EPSILON = ("tests/unit/metrics/auditing/test_epsilon.py",)
OF_WORST = ("tests/unit/metrics/shift/test_worst_case.py", "tests/theory/test_shift.py")
SCORES, ATTRIBUTION = "src/fairsmooth/export/scores.py", "src/fairsmooth/core/attribution.py"
GRAPH = "src/fairsmooth/verify/graph.py"
OF_GRAPHS = ("tests/unit/export/test_onnx.py",)

CROSS_FIT = "src/fairsmooth/data/forecasts/crossfit.py"
FOREST = "src/fairsmooth/data/forecasts/forest.py"
FORECASTERS = "src/fairsmooth/verify/_forecasters.py"

FAULTS = (
    # data: forecasts
    Fault(
        "forecasts-in-fold",
        CROSS_FIT,
        "boost(task.levels[~unseen], task.classes[~unseen],",
        "boost(task.levels, task.classes,",
        ("tests/unit/data/forecasts/test_crossfit.py",),
    ),
    Fault(
        "trees-that-lead-back",
        FOREST,
        "(children > own[:, None]).all(axis=1)",
        "(children >= own[:, None]).all(axis=1)",
        ("tests/unit/data/forecasts/test_forest.py",),
    ),
    Fault(
        "verified-trees-that-lead-back",
        FORECASTERS,
        "(steps > 0.0).all(axis=1)",
        "(steps >= 0.0).all(axis=1)",
        ("tests/unit/verify/test_forecasters.py",),
    ),
    # core: the certificate
    Fault(
        "paper-share",
        CERTIFICATE,
        "share=(n_groups - 1) / n_groups)",
        "share=(n_groups - 1) / (n_groups + 1))",
        BY_HAND,
    ),
    Fault(
        "paper-without-radii",
        CERTIFICATE,
        "epsilon=max(paper, *linear)",
        "epsilon=paper",
        PROPERTIES,
    ),
    Fault(
        "tight-is-the-least",
        CERTIFICATE,
        "epsilon_tight=max(min(t, b)",
        "epsilon_tight=min(min(t, b)",
        BY_HAND,
    ),
    Fault(
        "interval-keeps-the-wider",
        CERTIFICATE,
        "low = np.maximum(low, np.nextafter(scores - tight, -np.inf))",
        "low = np.minimum(low, np.nextafter(scores - tight, -np.inf))",
        PROPERTIES,
    ),
    Fault(
        "neighbours-not-compared",
        OUTWARD,
        "np.triu(rough(start) >= least, k=start + 1)",
        "np.triu(rough(start) >= least, k=start + 2)",
        BY_HAND,
    ),
    Fault(
        "no-noise-no-shift",
        CERTIFICATE,
        "if sigma > 0 else math.inf",
        "if sigma > 0 else 0.0",
        BY_HAND,
    ),
    # core: rounding outward
    Fault(
        "norm-rounds-down",
        OUTWARD,
        "margin = 1.0 + (math.ceil(",
        "margin = 1.0 - (math.ceil(",
        PROPERTIES,
    ),
    Fault(
        "lipschitz-rounds-down",
        OUTWARD,
        "_SQRT_2PI * share * (1.0 + _SLACK)",
        "_SQRT_2PI * share * (1.0 - _SLACK)",
        PROPERTIES,
    ),
    Fault(
        "total-variation-constant",
        OUTWARD,
        "math.erf(distance / sigma / (2.0 * _SQRT_2))",
        "math.erf(distance / sigma / (2.0 * _SQRT_2PI))",
        BY_HAND,
    ),
    Fault(
        "total-variation-above-one",
        OUTWARD,
        "return min(1.0, _two_up(bound))",
        "return _two_up(bound)",
        (*BY_HAND, *PROPERTIES),
    ),
    Fault(
        "interval-rounds-inward",
        OUTWARD,
        "ndtr(quantile - shift - margin) * (1.0 - 1e-11)",
        "ndtr(quantile - shift + margin) * (1.0 + 1e-11)",
        PROPERTIES,
    ),
    # core: centres and the objective
    Fault(
        "mean-of-all-but-one",
        PARAMETERS,
        "ordered_sum(group_parameters - first) / len(group_parameters)",
        "ordered_sum(group_parameters - first) / (len(group_parameters) - 1)",
        BY_HAND,
    ),
    Fault(
        "ball-never-used",
        PARAMETERS,
        "return center if radius <=",
        "return center if radius >",
        BY_HAND,
    ),
    Fault(
        "tie-gradient-halved",
        OBJECTIVE,
        "return 2.0 * len(group_parameters) *",
        "return 1.0 * len(group_parameters) *",
        OF_OBJECTIVE,
    ),
    Fault(
        "tie-without-its-factor",
        OBJECTIVE,
        "return len(group_parameters) * offsets.square().sum()",
        "return 2 * offsets.square().sum()",
        OF_OBJECTIVE,
    ),
    Fault(
        "log-of-zero",
        OBJECTIVE,
        "chosen.clamp_min(max(error, torch.finfo(scores.dtype).eps)).log()",
        "chosen.clamp_min(error).log()",
        OF_OBJECTIVE,
    ),
    # training
    Fault(
        "parity-odds-tolerance",
        PARITY,
        "_excess(gaps[0] + gaps[1], tolerance[1])",
        "_excess(gaps[0] + gaps[1], tolerance[0])",
        OF_PARITY,
    ),
    Fault(
        "parity-one-label",
        PARITY,
        "for label in (0.0, 1.0)]",
        "for label in (1.0, 1.0)]",
        OF_PARITY,
    ),
    Fault(
        "parity-ignores-threshold",
        PARITY,
        "- cut) / bandwidth)",
        "- 0.0 * cut) / bandwidth)",
        OF_PARITY,
    ),
    Fault(
        "parity-largest-pair",
        PARITY,
        ".sqrt() - _CORNER).mean()",
        ".sqrt() - _CORNER).max()",
        OF_PARITY,
    ),
    Fault(
        "hold-out-takes-the-last-row",
        SPLITS,
        "min(totals[cell] - 1, whole(",
        "min(totals[cell], whole(",
        ("tests/unit/data/test_splits.py", "tests/unit/training/test_fit.py"),
    ),
    Fault(
        "tie-halved-in-training",
        PROBLEM,
        "self.total(losses) + self.alpha * tie",
        "self.total(losses) + 0.5 * self.alpha * tie",
        OF_PROBLEM,
    ),
    Fault(
        "group-shares-not-scaled",
        PROBLEM,
        "len(sizes) * size / sum(sizes)",
        "size / sum(sizes)",
        OF_PROBLEM,
    ),
    Fault(
        "draws-not-corrected",
        LIKELIHOOD,
        "(0.5 * variance / mean.square())",
        "(0.0 * variance / mean.square())",
        OF_LIKELIHOOD,
    ),
    Fault(
        "mixture-slope",
        LIKELIHOOD,
        "ctx.save_for_backward(slope / math.sqrt(2.0 * math.pi))",
        "ctx.save_for_backward(slope / math.sqrt(math.pi))",
        OF_LIKELIHOOD,
    ),
    # verify
    Fault(
        "verifier-paper-without-radii",
        CHECKS,
        "paper = max(share**2 * geometry.squared_max_distance, *radii)",
        "paper = share**2 * geometry.squared_max_distance",
        OF_BOUNDS,
    ),
    Fault(
        "verifier-total-variation",
        BOUNDS,
        "arb(sigma) * arb(8).sqrt()",
        "arb(sigma) * arb(9).sqrt()",
        OF_BOUNDS,
    ),
    Fault(
        "verifier-refuses-equality",
        BOUNDS,
        "return bool(ball <= number)",
        "return bool(ball < number)",
        OF_BOUNDS,
    ),
    Fault(
        "verifier-gives-the-benefit-of-doubt",
        BOUNDS,
        "return bool(ball <= number)",
        "return not bool(ball > number + 1e-15)",
        OF_BOUNDS,
    ),
    Fault(
        "verifier-forgets-a-group",
        EXACT,
        "max((v for row in square[:n_groups] for v in row), default=0)",
        "max((v for row in square[: n_groups - 1] for v in row), default=0)",
        OF_BOUNDS,
    ),
    Fault(
        "verifier-any-mean",
        EXACT,
        "np.abs(n_groups * overall - groups.sum(axis=0))",
        "np.abs(n_groups * overall - n_groups * overall)",
        ("tests/unit/verify/test_descriptions.py",),
    ),
    # metrics
    Fault(
        "binomial-one-trial-less",
        INTERVALS,
        "np.maximum(hits, 0.5), n - hits + 1.0, error)",
        "np.maximum(hits, 0.5), n - hits + 0.9, error)",
        OF_INTERVALS,
    ),
    Fault(
        "both-bounds-spend-the-whole-error",
        INTERVALS,
        "n[many], error / 2.0)",
        "n[many], error)",
        OF_INTERVALS,
    ),
    Fault(
        "gap-error-not-divided",
        GAPS,
        "error=tail / n_contrasts, side=-1.0",
        "error=tail, side=-1.0",
        OF_GAPS,
    ),
    Fault(
        "gap-ends-swapped",
        GAPS,
        "(above, below) if side > 0 else (below, above)",
        "(below, above) if side > 0 else (above, below)",
        OF_GAPS,
    ),
    Fault(
        "groups-together-without-a-margin",
        TOGETHER,
        "ndtr(quantile - shift - margin)",
        "ndtr(quantile - shift)",
        ("tests/unit/core/test_group_intervals.py",),
    ),
    Fault(
        "own-interval-of-another-group",
        TOGETHER,
        "shifts[codes], bounds[codes]",
        "shifts[codes], bounds[codes - 1]",
        ("tests/unit/core/test_group_intervals.py",),
    ),
    Fault(
        "groups-together-by-one-rule",
        COLUMNS,
        "if len(used) == 1:",
        "if used:",
        ("tests/unit/core/test_compact_scores.py",),
    ),
    Fault(
        "partners-stand-in-the-way-of-pairs",
        GAPS,
        "if other > second:",
        "if other > best:",
        OF_GAPS,
    ),
    Fault(
        "largest-gap-confidence",
        GAPS,
        "tails = 1.0 - (1.0 - confidence) / len(families)",
        "tails = confidence",
        OF_GAPS,
    ),
    Fault(
        "norm-grows-with-the-sample",
        EPSILON,
        "powers.means ** (1.0 / p)",
        "powers.sums ** (1.0 / p)",
        OF_EPSILON,
    ),
    Fault(
        "epsilon-of-the-others",
        EPSILON,
        "(metric, values[code], counts[code])",
        "(metric, values[code - 1], counts[code])",
        OF_EPSILON,
    ),
    Fault(
        "chi-square-radius",
        WORST,
        "for scale in 1.0 + radii:",
        "for scale in 1.0 + radii**2:",
        OF_WORST,
    ),
    Fault(
        "hellinger-radius",
        WORST,
        "for overlap in 1.0 - radii**2:",
        "for overlap in 1.0 - radii:",
        OF_WORST,
    ),
    Fault(
        "least-correlated-columns",
        SHIFT,
        "np.argsort(-correlations, kind",
        "np.argsort(correlations, kind",
        ("tests/unit/metrics/shift/test_shift.py",),
    ),
    # export: the graph's intervals, and what verify compares; explanations
    Fault(
        "graph-error-left-out",
        SCORES,
        "[0.5, 0.5 + error, 0.5 + error]",
        "[0.5, 0.5, 0.5]",
        OF_GRAPHS,
    ),
    Fault(
        "graph-shifts-inward",
        SCORES,
        "(shifts + outward)[:, None]",
        "(shifts - outward)[:, None]",
        OF_GRAPHS,
    ),
    Fault(
        "graph-weights-unchecked",
        GRAPH,
        '        and np.array_equal(found, right, equal_nan=found.dtype.kind == "f")',
        "        and np.allclose(found, right, equal_nan=True)",
        ("tests/unit/verify/test_graph.py",),
    ),
    Fault(
        "contribution-of-the-noise",
        ATTRIBUTION,
        "* weights + 2.0 * noise * (",
        "* weights + noise * (",
        ("tests/unit/core/test_attribution.py",),
    ),
)
