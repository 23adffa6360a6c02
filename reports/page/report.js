// Charts, choices and filters of a report; every figure stands in a table of the page too.
(() => {
  "use strict";
  const page = document.documentElement;
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const style = (name) => getComputedStyle(page).getPropertyValue(name).trim();
  const hasCharts = typeof Chart !== "undefined";
  page.classList.add("scripted");

  // Okabe and Ito's colours, told apart by the colour-blind too; dashes and points tell them apart in print.
  const light = ["#0072b2", "#d55e00", "#009e73", "#aa4499", "#8a6d00", "#56a0d3", "#666666", "#882255"];
  const dark = ["#56b4e9", "#ff8c42", "#2fc79a", "#e08fc6", "#f0e442", "#9ecae1", "#bbbbbb", "#ff6f91"];
  const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3]];
  const points = ["circle", "rect", "triangle", "rectRot"];
  let printing = false;
  const isDark = () => !printing && matchMedia("(prefers-color-scheme: dark)").matches;
  const colour = (i) => (isDark() ? dark : light)[i % 8];

  // The state of the page is its address: a filtered page can be linked to.
  const state = new URLSearchParams(location.hash.slice(1));
  const remember = (key, value) => {
    if (value) state.set(key, value); else state.delete(key);
    history.replaceState(null, "", "#" + state.toString());
  };

  const charts = new Map();
  const draw = (id, config) => {
    if (!hasCharts || !byId(id)) return;
    if (charts.has(id)) charts.get(id).destroy();
    charts.set(id, new Chart(byId(id), config));
  };
  const number = (value) => (value === 0 ? "0" : Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5
    ? String(Number(value.toPrecision(3))) : value.toExponential(1).replace("e+", "e").replace(".0e", "e"));
  const axis = (title, extra) => ({
    title: { display: true, text: title, color: style("--text") },
    grid: { color: style("--line") }, ticks: { color: style("--quiet"), ...extra?.ticks }, ...extra?.scale,
  });
  const decades = { callback: (value) => (Math.log10(value) % 1 === 0 ? number(value) : "") };
  const octaves = { callback: (value) => (Math.log2(value) % 2 === 0 ? String(value) : "") };
  const octaveAxis = (title) => axis(title, {
    scale: { type: "logarithmic", afterBuildTicks: (scale) => {
      scale.ticks = [];
      for (let p = 1; p <= scale.max; p *= 4) if (p >= scale.min) scale.ticks.push({ value: p });
    } }, ticks: octaves });
  const logAxis = (title) => axis(title, { scale: { type: "logarithmic" }, ticks: decades });
  const base = (scales, tooltip) => ({
    responsive: true, maintainAspectRatio: false, animation: false, scales,
    interaction: { mode: "nearest", intersect: false },
    plugins: {
      legend: { labels: { color: style("--text"), usePointStyle: true, boxWidth: 9, boxHeight: 9, padding: 14 }, position: "bottom" },
      tooltip: { callbacks: tooltip || {} },
    },
  });
  const withoutLegend = (options) => { options.plugins.legend.display = false; return options; };
  const series = (label, i, points_, extra) => ({
    label, data: points_, borderColor: colour(i), backgroundColor: colour(i), borderWidth: 2,
    borderDash: dashes[Math.floor(i / 8) % 4], pointStyle: points[i % 4], pointRadius: 3, tension: 0, ...extra,
  });
  const fill = (select, options) => {
    for (const name of options) {
      const option = document.createElement("option");
      option.value = option.textContent = name;
      select.append(option);
    }
  };
  const choose = (id, key, options, redraw) => {
    const select = byId(id);
    if (!select) return;
    fill(select, options);
    if (options.includes(state.get(key))) select.value = state.get(key);
    select.addEventListener("change", () => { remember(key, select.value); redraw(); });
  };

  // ---- drift over positions: kernels with the same curve share a line ----
  const drift = () => {
    const model = byId("drift-model").value;
    const curves = new Map();
    for (const entry of data.drift) {
      if (model !== data.everything && entry.model !== model) continue;
      for (const [first, error] of entry.octaves) {
        const curve = curves.get(entry.kernel) || curves.set(entry.kernel, new Map()).get(entry.kernel);
        curve.set(first, Math.max(error, curve.get(first) || 0));
      }
    }
    const shapes = new Map();
    for (const [kernel, curve] of curves) {
      const shown = [...curve].filter(([first]) => first > 0).sort((a, b) => a[0] - b[0]).map(([x, y]) => ({ x, y: y || null }));
      const shape = JSON.stringify(shown);
      (shapes.get(shape) || shapes.set(shape, { shown, kernels: [] }).get(shape)).kernels.push(kernel);
    }
    const sets = [...shapes.values()].map(({ shown, kernels }, i) =>
      series(kernels.length > 2 ? `${kernels.slice(0, 2).join(", ")} and ${kernels.length - 2} more` : kernels.join(", "), i, shown));
    draw("drift-chart", { type: "line", data: { datasets: sets }, options: base(
      { x: octaveAxis("position (first of an octave)"), y: logAxis("worst |error| of cos and sin") },
      { title: (items) => `positions from ${items[0].raw.x}`, label: (item) => `${item.dataset.label}: ${number(item.raw.y)}` }) });
  };

  // ---- where the error sits ----
  const place = () => {
    const kernel = byId("place-kernel").value, model = byId("place-model").value;
    const entry = data.drift.find((d) => d.kernel === kernel && d.model === model);
    byId("place-none").hidden = Boolean(entry);
    byId("map").hidden = !entry;
    byId("map").replaceChildren();
    if (!entry) { if (charts.has("ulp-chart")) { charts.get("ulp-chart").destroy(); charts.delete("ulp-chart"); } return; }
    const add = (row, tag, text) => {
      const cell = document.createElement(tag);
      cell.textContent = text;
      row.append(cell);
      return cell;
    };
    const all = entry.octaves.flatMap(([, , blocks]) => blocks).filter((v) => v !== null);
    const low = Math.max(Math.min(...all), Math.max(...all) - 80), high = Math.max(...all);
    const head = document.createElement("tr");
    add(head, "th", "pairs");
    for (const [first] of entry.octaves) add(head, "th", first >= 4096 ? `${first / 1024}k` : String(first));
    byId("map").append(head);
    const count = entry.octaves[0][2].length;
    for (let b = 0; b < count; ++b) {
      const row = document.createElement("tr");
      const from = Math.ceil(b * entry.pairs / count), to = Math.ceil((b + 1) * entry.pairs / count) - 1;
      add(row, "th", from === to ? String(from) : `${from}–${to}`);
      for (const [first, , blocks] of entry.octaves) {
        const level = blocks[b];
        const cell = add(row, "td", level === null ? "0" : Math.pow(10, level / 10).toExponential(0));
        cell.title = `positions from ${first}, pairs ${from} to ${to}`;
        const share = level === null ? 0 : high > low ? (level - low) / (high - low) : 1;
        const strength = Math.max(0, Math.min(1, share));
        cell.style.background = `color-mix(in srgb, ${colour(1)} ${Math.round(strength * 85)}%, ${style("--raised")})`;
        cell.style.color = isDark() && strength > 0.75 ? "#000" : style("--text");
      }
      byId("map").append(row);
    }
    const last = entry.histogram.reduce((at, count_, i) => (count_ > 0 ? i : at), 0);
    const bins = data.bins.slice(0, last + 2);
    draw("ulp-chart", { type: "bar", data: { labels: bins, datasets: [{
      label: `${kernel}, ${model}`, data: entry.histogram.slice(0, bins.length).map((v) => v || null),
      backgroundColor: colour(0), barPercentage: 1, categoryPercentage: 0.94 }] },
      options: withoutLegend(base({ x: axis("error of a table entry, ulp of float32"),
        y: { ...logAxis(`entries of ${kernel}`), min: 0.5 } })) });
  };

  // ---- error by stage ----
  const stages = () => data.stages.forEach((grade, at) => {
    const names = [...new Set(grade.points.flatMap((p) => p.shares.map(([name]) => name)))];
    const line = (name, i, value) => series(name, i, grade.points.filter((p) => p.position > 0).map((p) => ({ x: p.position, y: Math.abs(value(p)) || null })));
    const sets = names.map((name, i) => line(name, i, (p) => (p.shares.find(([n]) => n === name) || [0, 0])[1]));
    sets.push({ ...line("total", 6, (p) => p.total), borderWidth: 3 });
    draw(`stage-chart-${at}`, { type: "line", data: { datasets: sets }, options: base(
      { x: octaveAxis("position"), y: logAxis("|share| of the error") }) });
  });

  // ---- trends: regressions are marked ----
  const trend = () => {
    const measure = data.trends.measures.find((m) => m.name === byId("trend-measure").value);
    const shapes = new Map();
    for (const [kernel, values, worse] of measure.kernels) {
      const shape = JSON.stringify([values, worse]);
      (shapes.get(shape) || shapes.set(shape, { values, worse, kernels: [] }).get(shape)).kernels.push(kernel);
    }
    const sets = [...shapes.values()].map(({ values, worse, kernels }, i) =>
      series(kernels.length > 2 ? `${kernels.slice(0, 2).join(", ")} and ${kernels.length - 2} more` : kernels.join(", "), i, values, {
        pointRadius: worse.map((w) => (w ? 8 : 3)), pointStyle: worse.map((w) => (w ? "triangle" : "circle")),
        pointBackgroundColor: worse.map((w) => (w ? style("--bad") : colour(i))) }));
    draw("trend-chart", { type: "line", data: { labels: data.trends.runs, datasets: sets }, options: base(
      { x: axis("run"), y: axis(measure.name, { scale: { type: measure.log ? "logarithmic" : "linear" }, ticks: measure.log ? decades : {} }) }) });
  };

  // ---- filter of verdicts ----
  const rows = [...document.querySelectorAll("#verdicts tbody tr")];
  const words = rows.map((row) => row.textContent.toLowerCase());
  const filter = () => {
    const wanted = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdict = byId("search-verdict").value, kernel = byId("search-kernel").value;
    let shown = 0;
    rows.forEach((row, i) => {
      const show = (!verdict || row.dataset.verdict === verdict) && (!kernel || row.dataset.kernel === kernel) &&
        wanted.every((word) => words[i].includes(word));
      row.hidden = !show;
      shown += show;
    });
    byId("verdicts").classList.toggle("filtered", shown < rows.length);
    byId("shown").textContent = `${shown} of ${rows.length} rows`;
    page.dataset.shown = shown;
  };

  const redraw = () => {
    if (data.drift.length) { drift(); place(); }
    if (hasCharts) stages();
    if (data.trends) trend();
  };
  if (byId("search")) {
    fill(byId("search-verdict"), [...new Set(rows.map((row) => row.dataset.verdict))]);
    fill(byId("search-kernel"), [...new Set(rows.map((row) => row.dataset.kernel))].sort());
    for (const [id, key] of [["search", "q"], ["search-verdict", "verdict"], ["search-kernel", "on"]]) {
      if (state.get(key)) byId(id).value = state.get(key);
      byId(id).addEventListener("input", () => { remember(key, byId(id).value); filter(); });
    }
    filter();
  }
  if (data.drift.length) {
    const models = [...new Set(data.drift.map((entry) => entry.model))];
    choose("drift-model", "model", [data.everything, ...models], drift);
    const worst = data.drift.reduce((a, b) => (b.worst > a.worst ? b : a));
    choose("place-kernel", "kernel", [...new Set(data.drift.map((entry) => entry.kernel))], place);
    choose("place-model", "at", models, place);
    if (!state.get("kernel")) byId("place-kernel").value = worst.kernel;
    if (!state.get("at")) byId("place-model").value = worst.model;
  }
  if (data.trends) choose("trend-measure", "measure", data.trends.measures.map((m) => m.name), trend);
  if (!hasCharts) document.querySelectorAll(".needs-charts").forEach((element) => { element.hidden = true; });
  const tables = [...document.querySelectorAll("details.table")];
  if (hasCharts) tables.forEach((details) => { details.open = false; });
  redraw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => { printing = true; tables.forEach((details) => { details.open = true; }); redraw(); });
  addEventListener("afterprint", () => { printing = false; redraw(); });
  page.dataset.ready = hasCharts ? "charts" : "tables";
})();
