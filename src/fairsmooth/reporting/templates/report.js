"use strict";
// Draws the charts and moves the explorers. Everything it shows comes from the JSON beside it,
// and reaches the page as text, never as markup.
(() => {
  const held = JSON.parse(document.getElementById("report-data").textContent);
  const views = {};
  const one = (id) => document.getElementById(id);
  const show = (id, text) => { const place = one(id); if (place) place.textContent = text; };
  const share = (x) => (100 * x).toFixed(2) + " %";
  const put = (id, sets) => {
    const view = views[id];
    if (!view) { Object.assign(held.charts[id].datasets, sets); return; }
    for (const [name, rows] of Object.entries(sets)) view.data(name, rows);
    view.runAsync();
  };
  const spread = (range, text) =>
    !range ? "–" : range[0] === range[1] ? text(range[0]) : text(range[0]) + " to " + text(range[1]);

  // How many of a cell score above a threshold: the least and the most that it can be.
  function above(cell, at) {
    let most = cell.rows, least = 0;
    for (let i = 0; i < cell.edges.length; i++) {
      if (cell.edges[i] <= at) most = cell.above[i];
      if (cell.edges[i] >= at) { least = cell.above[i]; break; }
    }
    return [least, most];
  }
  const over = (counts, rows) => (rows ? [counts[0] / rows, counts[1] / rows] : null);

  function groupAt(group, at) {
    const cells = group.cells.filter((cell) => cell.rows);
    const of = (label) => cells.find((cell) => cell.label === label);
    const found = { name: group.name, rows: 0, selected: null, tpr: null, fpr: null, right: null };
    let chosen = [0, 0];
    for (const cell of cells) {
      const counts = above(cell, at);
      chosen = [chosen[0] + counts[0], chosen[1] + counts[1]];
      found.rows += cell.rows;
    }
    found.selected = over(chosen, found.rows);
    const yes = of(1), no = of(0);
    if (yes && no) {
      const hits = above(yes, at), wrong = above(no, at);
      found.tpr = over(hits, yes.rows);
      found.fpr = over(wrong, no.rows);
      found.right = [hits[0] + no.rows - wrong[1], hits[1] + no.rows - wrong[0]];
    }
    return found;
  }

  function thresholdAt(at) {
    const data = held.threshold;
    const groups = data.groups.map((group) => groupAt(group, at));
    const known = groups.filter((group) => group.selected);
    const pair = known.length > 1;  // One group alone has no gap, least of all one of 0.
    const lows = known.map((g) => g.selected[0]), highs = known.map((g) => g.selected[1]);
    const least = [Math.min(...lows), Math.min(...highs)], most = [Math.max(...lows), Math.max(...highs)];
    const ratio = [most[1] > 0 ? Math.min(1, least[0] / most[1]) : 1, most[0] > 0 ? Math.min(1, least[1] / most[0]) : 1];
    const gap = [Math.max(0, most[0] - least[1]), most[1] - least[0]];
    const judged = groups.filter((group) => group.right);
    const rows = judged.reduce((sum, group) => sum + group.rows, 0);
    const right = judged.reduce((sum, g) => [sum[0] + g.right[0], sum[1] + g.right[1]], [0, 0]);
    return { groups, most, ratio: pair ? ratio : null, gap: pair ? gap : null, accuracy: over(right, rows),
      leftOut: groups.length - known.length };
  }

  function drawThreshold() {
    const at = Number(one("threshold").value), data = held.threshold;
    const found = thresholdAt(at), body = one("threshold-table");
    const exact = String(+data.thresholds[at].toFixed(6));
    show("threshold-value", exact);
    one("threshold").setAttribute("aria-valuetext", exact);
    show("threshold-note", at === data.used ? "This is the threshold in use." : "Not the threshold in use.");
    show("threshold-among", found.leftOut ? "Without the groups of fewer than 10 people: " : "");
    show("threshold-gap", spread(found.gap, share));
    show("threshold-ratio", spread(found.ratio, (x) => x.toFixed(3)));
    show("threshold-accuracy", spread(found.accuracy, share));
    body.replaceChildren(...found.groups.map((group) => {
      const line = document.createElement("tr"), name = document.createElement("th");
      name.scope = "row";
      name.textContent = group.name;
      line.append(name);
      const ratio = group.selected && found.most[0] > 0
        ? [group.selected[0] / found.most[1], Math.min(1, group.selected[1] / found.most[0])] : null;
      const right = group.right ? over(group.right, group.rows) : null;
      const texts = [spread(group.selected, share), spread(ratio, (x) => x.toFixed(3)),
        spread(group.tpr, share), spread(group.fpr, share), spread(right, share)];
      for (const text of texts) {
        const cell = document.createElement("td");
        cell.textContent = text;
        line.append(cell);
      }
      return line;
    }));
    const rows = [];
    for (const group of found.groups) {
      const kinds = { "selected": group.selected, "true positive rate": group.tpr, "false positive rate": group.fpr };
      for (const [kind, range] of Object.entries(kinds)) {
        if (range) rows.push({ group: group.name, kind, low: range[0], high: range[1], middle: (range[0] + range[1]) / 2 });
      }
    }
    put("chart-threshold", { explored: rows });
  }

  function drawShift() {
    const claim = held.shift[Number(one("shift-claim").value)];
    const way = claim.ways[Number(one("shift-way").value)], slider = one("shift-radius");
    slider.max = way.radii.length - 1;
    const at = Math.min(Number(slider.value), way.radii.length - 1);
    const radius = way.radii[at], bound = way.bounds[at];
    // Texts come rounded so that what they say is still guaranteed.
    const text = way.radius_texts[at], bounded = way.bound_texts[at];
    slider.setAttribute("aria-valuetext", text);
    show("shift-value", text);
    show("shift-bound", bounded);
    show("shift-sentence", "If each group's people differ by at most " + text + " in " + way.words + ", " +
      claim.words.replace("{}", bounded) + ".");
    const limit = "The limit of " + claim.limit + (claim.ratio ? " (at least)" : " (at most)");
    show("shift-verdict", way.certified > 0
      ? limit + " is kept up to the certified radius, " + way.certified_text + "; " +
        (radius <= way.certified ? "this is within it." : "this is beyond it.")
      : limit + " is not guaranteed at any distance.");
    const floor = claim.ratio ? 1 : 0;
    put("chart-shift", {
      bounds: way.radii.map((r, i) => ({ radius: r, bound: way.bounds[i], floor })),
      here: [{ radius, bound }], limit: [{ bound: claim.limit }],
      certified: way.certified > 0 ? [{ radius: way.certified }] : [],
    });
  }

  function drawCurve() {
    const curve = held.curves[Number(one("curve").value)];
    show("curve-strength", "Along the axis: " + curve.strength + ". The measure: " + curve.metric + ".");
    put("chart-curve", { curve: curve.points });
  }

  const explorers = [
    ["threshold", ["threshold"], drawThreshold], ["shift", ["shift-claim", "shift-way", "shift-radius"], drawShift],
    ["curves", ["curve"], drawCurve],
  ];
  const options = { actions: false, renderer: "svg", ast: true, defaultStyle: false,
    tooltip: { disableDefaultStyle: true } };
  for (const [name, inputs, draw] of explorers) {
    const data = held[name];
    if (!data || (Array.isArray(data) && !data.length)) continue;
    for (const id of inputs) one(id).addEventListener("input", draw);
    draw();
  }
  // Names of groups are cut earlier where there is little room; the tables have them whole.
  const fitting = (id, spec) => {
    if (one(id).clientWidth < 420) {
      spec.config.axisY.labelLimit = 96;
      spec.params.find((param) => param.name === "letters").value = 12;
    }
    return spec;
  };
  const drawn = Object.entries(held.charts).map(([id, spec]) =>
    window.vegaEmbed("#" + id, fitting(id, spec), options).then((result) => { views[id] = result.view; }));
  Promise.all(drawn).then(() => {
    const back = one("threshold-back");
    if (back) back.addEventListener("click", () => { one("threshold").value = held.threshold.used; drawThreshold(); });
    document.documentElement.dataset.ready = "yes";
  });
})();
