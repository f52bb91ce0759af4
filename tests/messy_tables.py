"""Tables as people have them: one odd column each, beside ordinary ones."""

import datetime

import numpy as np

N = 240
RANDOM = np.random.default_rng(7)
WHOLE = RANDOM.integers(0, 60, N)
REAL = RANDOM.normal(size=N).round(3)
WORDS = RANDOM.choice(["clerk", "nurse", "driver, bus", "cook;chef", 'say "hi"', "zwölf"], N)
DAYS = [datetime.date(2019, 1, 1) + datetime.timedelta(days=int(11 * k)) for k in WHOLE]


def holes(values, token=None, every=7):
    return [token if k % every == 3 else value for k, value in enumerate(values)]


def texts(values):
    return [str(value) for value in values]


# What stands in the column ``c``; every entry is a messy table of its own.
COLUMNS = {
    "whole": WHOLE.tolist(),
    "whole-gaps": holes(WHOLE.tolist()),
    "real": REAL.tolist(),
    "real-gaps": holes(REAL.tolist()),
    "small-reals": (REAL * 1e-9).tolist(),
    "large-reals": (REAL * 1e12).tolist(),
    "negative-zero": [(-0.0, 0.0, 1.0)[k % 3] for k in range(N)],
    "one-gap": [None if k == 100 else int(v) for k, v in enumerate(WHOLE)],
    "constant-and-gaps": holes([5] * N),
    "flags": [bool(k % 2) for k in WHOLE],
    "flags-gaps": holes([bool(k % 2) for k in WHOLE]),
    "flag-words": [("true", "FALSE", "True")[k % 3] for k in range(N)],
    "zero-one": [int(k % 2) for k in WHOLE],
    "yes-no": [("yes", "no")[k % 2] for k in WHOLE],
    "words": WORDS.tolist(),
    "words-gaps": holes(WORDS.tolist()),
    "words-n/a": holes(WORDS.tolist(), "n/a"),
    "words-question": holes(WORDS.tolist(), "?"),
    "words-NA": holes(WORDS.tolist(), "NA"),
    "words-null": holes(WORDS.tolist(), "null"),
    "words-none": holes(WORDS.tolist(), "None"),
    "words-spaces": [f"  {word} " for word in WORDS],
    "words-capitals": [word.upper() if k % 2 else word for k, word in enumerate(WORDS)],
    "words-newlines": [word.replace(" ", "\n") for word in WORDS],
    "numbers-n/a": holes(texts(WHOLE), "n/a"),
    "numbers-question": holes(texts(WHOLE), "?"),
    "numbers-dash": holes(texts(WHOLE), "-"),
    "numbers-none": holes(texts(WHOLE), "None"),
    "numbers-spaces": [f" {value} " for value in WHOLE],
    "numbers-plus": [f"+{value}" for value in WHOLE],
    "numbers-late-letter": [*texts(WHOLE[:-1] % 5), "X"],
    "numbers-early-letter": ["X", *texts(WHOLE[1:] % 5)],
    "codes-leading-zero": [f"{value % 7:02d}" for value in WHOLE],
    "codes-one-leading-zero": [*texts(1 + WHOLE[:-1] % 5), "01"],
    "codes-large": texts(2**60 + WHOLE % 5),
    "codes-large-whole": (2**60 + WHOLE % 5).tolist(),
    "zip": [f"{value * 37 % 1000:05d}" for value in WHOLE],
    "thousands": [f"{value % 9 + 1} 000" for value in WHOLE],
    "percent": [f"{value % 9}%" for value in WHOLE],
    "dates": DAYS,
    "dates-gaps": holes(DAYS),
    "dates-text": [day.isoformat() for day in DAYS],
    "dates-dots": [day.strftime("%d.%m.%Y") for day in DAYS],
    "dates-slashes": [day.strftime("%Y/%m/%d") for day in DAYS],
    "dates-american": [day.strftime("%m/%d/%Y") for day in DAYS],
    "dates-wrong": ["2024-02-31", *(day.isoformat() for day in DAYS[1:])],
    "moments": [
        datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=int(31 * k)) for k in WHOLE
    ],
    "moments-text": [f"{day.isoformat()}T10:30:00Z" for day in DAYS],
    "times": [f"{value % 24:02d}:30" for value in WHOLE],
    "empty": [None] * N,
    "empty-n/a": ["n/a"] * N,
    "constant": ["same"] * N,
    "identifier": [f"customer {k}" for k in range(N)],
    "identifier-whole": list(range(1000, 1000 + N)),
    "many-categories": [f"town {int(k)}" for k in RANDOM.zipf(1.3, N) % 150],
    "markup": [("[/nope]", r"$\frac{x$", "{{ x }}", "<b>")[k % 4] for k in range(N)],
    "formula": [("=1+1", "@cmd", "+a")[k % 3] for k in range(N)],
    "unicode": [("Ω", "日本", "😀", "ﬁ")[k % 4] for k in range(N)],
    "quotes": [('"', "''", '""', "\\")[k % 4] for k in range(N)],
    "long": [("x" * 3000, "y" * 3000)[k % 2] for k in range(N)],
    "half-numbers": [str(v) if k % 2 else f"v{v % 4}" for k, v in enumerate(WHOLE % 6)],
    "exponents": [f"{value % 9}e{value % 3}" for value in WHOLE],
}


def messy(values):
    group = [("female", "male", None)[0 if k == 9 else k % 2] for k in range(N)]
    return {
        "c": values,
        "x": REAL.tolist(),
        "sex": holes(group, None, every=50),
        "age": WHOLE.tolist(),
        "risk": [("good", "bad")[(k // 2) % 2] for k in range(N)],
    }
