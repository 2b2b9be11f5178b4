"use strict";
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const runs = data.runs, lines = runs.lines;
const $ = (id) => document.getElementById(id);
const BUDGETS = [0.001, 0.01, 0.1, 1, 10, 100, 1000];
const DRAWN = 5000;          // so many single trials at most, for each is an element of its own
const DIRECT = 6;            // so many lines have their names at their ends
const BETTER_LARGE = ["accuracy", "r2"];
const HEADS = { t_total: "time (s)", cpu_total: "CPU (s)", t_train: "fit (s)", t_test: "test (s)", peak_rss_mb: "peak MB" };
const AXES = { d: "dimension of the data d", variant: "setting" };

// ---- small things ------------------------------------------------------------------------------
function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child != null));   // texts stay texts
  return node;
}
const show = (value, digits = 5) => value == null ? "–"
  : typeof value !== "number" ? String(value)
  : value !== 0 && (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e9) ? value.toExponential(digits - 2)
  : String(Number(value.toPrecision(digits)));
const word = (column, line) => column.texts[column.codes[line]];
const spread = (sd, n) => sd == null || n < 2 ? null : sd / Math.sqrt(n);
// plotly reads a few tags in texts; with these two characters escaped it finds none
const plain = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;");
const fill = (select, options, chosen) => {
  select.replaceChildren(...options.map(([value, text]) => make("option", { value, selected: String(value) === String(chosen) }, text)));
};
const unique = (values) => [...new Set(values)];
const short = (text, most = 26) => text.length > most ? text.slice(0, most - 1) + "…" : text;

function dialog(title, ...body) {
  $("dialog-title").textContent = title;
  $("dialog-body").replaceChildren(...body);
  $("dialog").showModal();
  $("dialog-title").focus();
}

async function copy(title, text) {
  const area = make("textarea", { readonly: true, "aria-label": title });
  area.value = text;
  const said = make("p", { role: "status" }, "");
  dialog(title, said, area);
  area.select();
  let done = false;
  try { await navigator.clipboard.writeText(text); done = true; } catch { done = document.execCommand("copy"); }
  said.textContent = done ? "Copied." : "Press Ctrl+C to copy.";
}

// ---- tables: sorted by buttons in the heads, copied as CSV and LaTeX ------------------------------
const csvCell = (value) => value == null ? "" : /[",\n\r]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value);
const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "–": "--", "<": "\\textless{}", ">": "\\textgreater{}" };
const latexCell = (text) => text.replace(/[\\~^–<>&%$#_{}]/g, (c) => LATEX[c] || "\\" + c).replace(/\s+/g, " ");

function table(place, caption, head, rows, texts = []) {
  // head: names; rows: arrays of numbers, texts or null; texts: names of columns that hold words
  if (!rows.length) { place.replaceChildren(make("p", {}, "Nothing to show.")); return; }
  let sorted = rows;
  const body = make("tbody");
  const isText = head.map((name) => texts.includes(name));
  const fillBody = () => body.replaceChildren(...sorted.map((row) => make("tr", {}, ...row.map((value, i) =>
    make("td", { class: isText[i] ? "text" : null }, show(value))))));
  const heads = head.map((name, i) => {
    const th = make("th", { scope: "col", class: isText[i] ? "text" : null, "aria-sort": "none" }, make("button", { type: "button", onclick: () => {
      const up = th.getAttribute("aria-sort") !== "ascending";
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      th.setAttribute("aria-sort", up ? "ascending" : "descending");
      sorted = [...rows].sort((a, b) => {
        if (a[i] == null || b[i] == null) return (a[i] == null) - (b[i] == null);   // gaps last
        const order = typeof a[i] === "number" && typeof b[i] === "number" ? a[i] - b[i]
          : String(a[i]).localeCompare(String(b[i]), "en", { numeric: true });
        return up ? order : -order;
      });
      fillBody();
    } }, name));
    return th;
  });
  fillBody();
  const csv = () => [head, ...sorted].map((row) => row.map(csvCell).join(",")).join("\n") + "\n";
  const latex = () => [`\\begin{tabular}{${isText.map((text) => text ? "l" : "r").join("")}}`, "\\toprule",
    ...[head, ...sorted].map((row) => row.map((value) => latexCell(show(value))).join(" & ") + " \\\\"),
    "\\bottomrule", "\\end{tabular}"].map((line, i) => i === 2 ? line + "\n\\midrule" : line).join("\n") + "\n";
  place.replaceChildren(
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      make("table", {}, make("caption", {}, caption), make("thead", {}, make("tr", {}, ...heads)), body)),
    make("div", { class: "copy" },
      make("button", { type: "button", onclick: () => copy("Table as CSV", csv()) }, "Copy as CSV"),
      make("button", { type: "button", onclick: () => copy("Table as LaTeX", latex()) }, "Copy as LaTeX")));
}

// ---- error against size, time, memory ------------------------------------------------------------
const count = lines.experiment.length;
const every = Array.from({ length: count }, (_, line) => line);
const hidden = new Set();
let current = [];

const experiment = () => Number($("experiment").value);
const here = () => every.filter((line) => lines.experiment[line] === experiment() && word(lines.dataset, line) === $("dataset").value);

function chooseExperiment(number) {
  const own = every.filter((line) => lines.experiment[line] === number);
  fill($("experiment"), runs.experiments.map((one, i) => [i, one.name]), number);
  fill($("dataset"), unique(own.map((line) => word(lines.dataset, line))).map((name) => [name, name]));
  chooseDataset();
  repeat();
}

function chooseDataset() {
  const chosen = here(), one = runs.experiments[experiment()];
  const kept = $("metric").value, keptAxis = $("axis").value;
  const known = Object.keys(runs.metrics).filter((name) => chosen.some((line) => runs.metrics[name][line] != null));
  const usual = chosen.length ? word(lines.usual, chosen[0]) : "";
  fill($("metric"), known.map((name) => [name, runs.titles[name]]), known.includes(kept) && kept !== "error" ? kept : usual);
  const varied = one.axis === "M" ? [] : [["x", AXES[one.axis] || one.axis]];
  const axes = [...varied, ...[...runs.sizes, ...runs.costs].filter((name) => chosen.some((line) => lines[name][line] != null)).map((name) => [name, runs.titles[name]])];
  fill($("axis"), axes, axes.some(([name]) => name === keptAxis) ? keptAxis : axes.length ? axes[0][0] : "");
  hidden.clear();
  chooseAxis();
}

function chooseAxis() {
  const cost = runs.costs.includes($("axis").value);
  $("logx").checked = cost || $("axis").value === "M";
  $("frontier").checked = cost;
  methods();
  draw();
}

// The looks of the figures: a method has one everywhere. Black is the ink of the page.
function look(name, ink) {
  const own = runs.looks[name] || { colour: "#000000", symbol: "circle", dash: "solid" };
  return { ...own, colour: own.colour === "#000000" ? ink || "currentColor" : own.colour };
}

function swatch(name) {
  const space = "http://www.w3.org/2000/svg", svg = document.createElementNS(space, "svg"), path = document.createElementNS(space, "path");
  const { colour, dash } = look(name);
  Object.entries({ class: "key", viewBox: "0 0 26 14", "aria-hidden": "true" }).forEach(([k, v]) => svg.setAttribute(k, v));
  Object.entries({ d: "M0 7H26", stroke: colour, "stroke-width": 4, "stroke-dasharray": { solid: "none", dash: "7 3", dot: "3 3", dashdot: "7 3 2 3" }[dash] || dash.replaceAll("px", "").replaceAll(",", " ") }).forEach(([k, v]) => path.setAttribute(k, v));
  svg.append(path);
  return svg;
}

function methods() {
  current = unique(here().map((line) => word(lines.method, line)));
  const legend = $("methods").querySelector("legend");
  $("methods").replaceChildren(legend, ...current.map((name, i) => make("label", {},
    make("input", { type: "checkbox", checked: true, onchange: (event) => { event.target.checked ? hidden.delete(name) : hidden.add(name); draw(); } }),
    swatch(name), name)));
}

function all(on) {
  current.forEach((name) => on ? hidden.delete(name) : hidden.add(name));
  $("methods").querySelectorAll("input").forEach((box) => { box.checked = on; });
  draw();
}

function points() {
  const metric = $("metric").value, axis = $("axis").value;
  return here().filter((line) => !hidden.has(word(lines.method, line)) && runs.metrics[metric]?.[line] != null && lines[axis][line] != null)
    .map((line) => ({
      line, method: word(lines.method, line), x: lines[axis][line], y: runs.metrics[metric][line], sd: runs.sd[metric][line], n: lines.trials[line],
    })).map((one) => ({ ...one, se: spread(one.sd, one.n) }));
}

function frontier(found) {
  const sign = BETTER_LARGE.includes($("metric").value) ? -1 : 1;
  const kept = [];
  let best = Infinity;
  for (const one of [...found].sort((a, b) => a.x - b.x || sign * (a.y - b.y))) {
    if (sign * one.y < best) { best = sign * one.y; kept.push(one); }
  }
  return kept;
}

const trialsOf = (found, metric) => found.filter((one) => word(lines.usual, one.line) === metric).flatMap((one) => runs.points[one.line].map((y) => [one.x, y]));

function hover(one) {
  const time = lines.t_total[one.line], shared = lines.shared[one.line] ? " (at most: shared with other sizes)" : "";
  return [plain(short(one.method, 60)), `mean ${show(one.y)} ± ${show(one.se, 2)} (standard error)`, `sd ${show(one.sd, 3)}, ${one.n} trials` + (lines.failed[one.line] ? `, ${lines.failed[one.line]} failed` : ""),
    `M ${show(lines.M[one.line])}, ${show(lines.columns[one.line])} columns, ${plain(word(lines.solver, one.line))}`, `time ${show(time, 3)} s${shared}`,
    plain(short(word(lines.parameters, one.line), 90))].join("<br>");
}

// Ticks of a logarithmic axis at 1, 2, 5 of each power of ten, or at the powers where these are many.
function ticks(values, most) {
  const own = [...new Set(values)].sort((a, b) => a - b);
  if (own.length <= most) return { tickvals: own, ticktext: own.map((tick) => String(Number(tick.toPrecision(3)))) };
  const low = Math.log10(Math.min(...values)), high = Math.log10(Math.max(...values));
  const powers = Array.from({ length: Math.ceil(high) - Math.floor(low) + 1 }, (_, i) => Math.floor(low) + i);
  let found = powers.flatMap((power) => [1, 2, 5].map((n) => Number(`${n}e${power}`))).filter((tick) => Math.log10(tick) > low - 0.2 && Math.log10(tick) < high + 0.2);
  if (found.length > most) found = powers.filter((power) => (power - powers[0]) % Math.ceil(powers.length / most) === 0).map((power) => Number(`1e${power}`));
  return { tickvals: found, ticktext: found.map((tick) => tick >= 1e5 || tick < 1e-3 ? tick.toExponential(0) : String(tick)) };
}

// Move names at the ends of lines apart that would cover each other: pixels upward, by line.
function apart(heights, room) {
  const low = Math.min(...heights), size = Math.max(...heights) - low || 1, shifts = [];
  let before = -Infinity;
  for (const i of heights.map((_, k) => k).sort((a, b) => heights[a] - heights[b])) {
    const at = (heights[i] - low) / size * room;
    before = Math.max(at, before + 15);
    shifts[i] = before - at;
  }
  return shifts;
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const phone = matchMedia("(max-width: 40rem)"), narrow = () => phone.matches;

function figure(found, screen) {
  const night = screen && dark.matches, ink = night ? "#e8e8e8" : "#1b1b1b", grid = night ? "#3a4048" : "#dddddd";
  const logx = $("logx").checked, logy = $("logy").checked, metric = $("metric").value, axis = $("axis").value;
  const traces = [], notes = [];
  const shown = current.filter((name) => found.some((one) => one.method === name));
  const direct = shown.length <= DIRECT && !(screen && narrow());
  const step = Math.ceil(trialsOf(found, metric).length / DRAWN);
  for (const name of shown) {
    const { colour, symbol, dash } = look(name, ink);
    const mine = found.filter((one) => one.method === name).sort((a, b) => a.x - b.x);
    traces.push({
      type: "scatter", mode: "lines+markers", name: plain(name), x: mine.map((one) => one.x), y: mine.map((one) => one.y),
      error_y: { type: "data", array: mine.map((one) => one.se || 0), thickness: 1.2, width: 3 }, line: { color: colour, dash, width: 2 }, marker: { color: colour, symbol, size: 8 },
      hoverinfo: "text", hovertext: mine.map(hover), showlegend: !screen && !direct,
    });
    const last = mine.at(-1);
    if (direct) notes.push({
      x: logx && last.x > 0 ? Math.log10(last.x) : last.x, y: logy && last.y > 0 ? Math.log10(last.y) : last.y, text: plain(short(name)), showarrow: false, xanchor: "left", xshift: 8, font: { color: ink, size: 12 },
    });
    if ($("trials").checked) {
      const single = trialsOf(mine, metric).filter((_, i) => i % step === 0);
      traces.push({ type: "scatter", mode: "markers", x: single.map(([x]) => x), y: single.map(([, y]) => y), marker: { color: colour, size: 4, opacity: 0.45 }, hoverinfo: "y", showlegend: false, name: "trials" });
    }
  }
  if (notes.length) {
    const all_ = found.map((one) => logy ? Math.log10(one.y) : one.y).filter(Number.isFinite), room = screen ? 330 : 300;
    const span = Math.max(...all_) - Math.min(...all_) || 1, reach = Math.max(...notes.map((one) => one.y)) - Math.min(...notes.map((one) => one.y));
    apart(notes.map((one) => one.y), room * reach / span).forEach((shift, i) => { notes[i].yshift = shift; });
  }
  if ($("frontier").checked) {
    const edge = frontier(found);
    traces.push({ type: "scatter", mode: "lines", name: "frontier", x: edge.map((one) => one.x), y: edge.map((one) => one.y), line: { color: ink, width: 5, shape: "hv" }, opacity: 0.3, hoverinfo: "skip", showlegend: false });
  }
  const numeric = found.every((one) => typeof one.x === "number");
  // a format or texts of ticks, for plotly writes powers with inline styles, which the policy forbids
  const lined = (title, type, bytes, values) => ({ title: { text: plain(title), standoff: 8 }, type, gridcolor: grid, zeroline: false, color: ink, automargin: true, tickformat: bytes ? ".3~s" : ".6~r", nticks: narrow() ? 5 : 9, ...(type === "log" ? ticks(values.filter((value) => value > 0), narrow() ? 5 : 9) : {}) });
  const layout = {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, family: "system-ui, sans-serif", size: 13 }, hovermode: "closest",
    margin: { l: 60, r: direct ? 150 : 16, t: 12, b: 55 }, annotations: notes, showlegend: !screen && !direct,
    xaxis: lined(axis === "x" ? AXES[runs.experiments[experiment()].axis] || runs.experiments[experiment()].axis : runs.titles[axis], !numeric ? "category" : logx ? "log" : "linear", axis === "bytes", found.map((one) => one.x)),
    yaxis: lined(runs.titles[metric] || "", logy ? "log" : "linear", false, found.map((one) => one.y)),
    legend: { orientation: "h", y: -0.2 },
  };
  if (screen && narrow()) layout.xaxis.title.text = plain(short(runs.titles[axis] || "", 44));
  return { data: traces, layout };
}

let pending = Promise.resolve();
function draw() {
  const found = points(), metric = $("metric").value, axis = $("axis").value;
  const made = figure(found, true);
  Plotly.react($("figure"), made.data, made.layout, { displayModeBar: false, responsive: true, doubleClick: "reset" });
  // A picture for paper, in light colours, drawn when nothing else is to be done.
  const still = figure(found, false);
  pending = pending.then(() => Plotly.toImage({ data: still.data, layout: { ...still.layout, width: 720, height: 430 } }, { format: "svg", width: 720, height: 430 }))
    .then((address) => { $("print").src = address; $("print").hidden = false; $("print").alt = $("said").textContent; });
  const best = found.length ? found.reduce((a, b) => (BETTER_LARGE.includes(metric) ? b.y > a.y : b.y < a.y) ? b : a) : null;
  const drawn = made.data.filter((one) => one.name === "trials").reduce((n, one) => n + one.x.length, 0), whole = found.reduce((n, one) => n + one.n, 0);
  const single = $("trials").checked && found.some((one) => word(lines.usual, one.line) !== metric) ? ` Single trials are kept for ${word(lines.usual, found[0].line)} alone.`
    : $("trials").checked && drawn < whole ? ` Single trials are thinned: ${drawn.toLocaleString("en")} of ${whole.toLocaleString("en")} are drawn; means and spreads are over all.` : "";
  const top = best ? `${best.method}, ${show(best.y, 4)} ± ${show(best.se, 2)} at M = ${show(lines.M[best.line])}` : "";
  $("card-curves").textContent = best ? `Best of ${runs.experiments[experiment()].name} on ${$("dataset").value}: ${top} (${runs.titles[metric]}). Choose results, data set, metric and methods.` : "";
  $("said").textContent = (best ? `Best: ${top}. ` : "No values. ") +
    "Bars are standard errors. Drag to zoom, double-click to go back; hover for details." + single;
  const columns = ["method", "M", "mean", "sd", "se", "trials", "failed", ...unique([axis === "x" ? "x" : axis, "columns", ...runs.costs])].filter((name, i, all_) => all_.indexOf(name) === i);
  table($("table"), `${runs.titles[metric] || "nothing"} on ${$("dataset").value}, ${runs.experiments[experiment()].name}`, columns.map((name) => HEADS[name] || name).concat("parameters"), found.map((one) => [
    ...columns.map((name) => ({ method: one.method, mean: one.y, sd: one.sd, se: one.se })[name] ?? (["sd", "se"].includes(name) ? null : lines[name][one.line])), word(lines.parameters, one.line)]), ["method", "parameters"]);
  budget(found, metric);
}

function budget(found, metric) {
  const clock = lines.cpu_total.some((value) => value != null) ? "cpu_total" : "t_total", sign = BETTER_LARGE.includes(metric) ? -1 : 1;
  const rows = [];
  for (const seconds of BUDGETS) {
    const within = found.filter((one) => lines[clock][one.line] != null && lines[clock][one.line] <= seconds);
    if (!within.length) continue;
    const best = within.reduce((a, b) => sign * b.y < sign * a.y ? b : a);
    rows.push([seconds, best.method, lines.M[best.line], best.y, best.se, lines[clock][best.line]]);
    if (within.length === found.length) break;
  }
  table($("own-budget"), `Best ${runs.titles[metric] || ""} within a ${clock === "cpu_total" ? "CPU" : "wall"} time (drawing, features, fit)`, ["at most (s)", "method", "M", "mean", "se", "took (s)"], rows, ["method"]);
}

function repeat() {
  const one = runs.experiments[experiment()];
  $("what").textContent = [one.title || one.name, one.description].filter(Boolean).join(". ");
  const facts = [["Folder", one.folder], ["Protocol", one.protocol], ["Rows", `${one.rows}, ${one.failed} failed; ${one.trials} trials`], ["Machine", one.machine || "not recorded"],
    ["BLAS threads", one.threads], ["rfbench", one.version], ["Written", one.written], ...one.notes.map((note) => ["Note", note])];
  const own = `rfbench replay ${one.folder} 1`;
  $("repeat").replaceChildren(describe(facts.filter(([, value]) => value)),
    ...(one.command ? [make("p", {}, "All of it:"), make("pre", {}, one.command)] : []),
    make("p", {}, "One row measured again, and compared:"), make("pre", {}, own),
    ...(one.config ? [make("details", {}, make("summary", {}, "The whole configuration, as it was resolved"), make("pre", {}, one.config))] : []));
}

const describe = (pairs) => make("dl", {}, ...pairs.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, show(value))]));

// ---- the papers ------------------------------------------------------------------------------------
function square(verdict, label, open) {
  const [letter, look_] = data.marks[verdict];
  return make("button", { type: "button", class: `square ${look_}`, "aria-label": `${label}: ${verdict}`, title: `${label}: ${verdict}`, onclick: open }, letter);
}

const numbersLength = data.papers ? data.papers.numbers.published.length : 0;
const number = (i) => Object.fromEntries(Object.entries(data.papers.numbers).map(([name, column]) => [name, column.texts ? word(column, i) : column[i]]));
const item = (name) => name.replace(/^(table|figure)(\d)/, (_, kind, n) => `${kind[0].toUpperCase()}${kind.slice(1)} ${n}`);

function openNumber(one) {
  const unit = one.unit === "1" ? "" : one.unit;  // a number without a unit
  const pm = (value, error, kind = "") => value == null ? "–" : `${show(value)}${error == null ? "" : ` ± ${show(error, 2)}${kind ? ` (${kind})` : ""}`} ${unit}`;
  dialog(`${one.method} on ${one.dataset}, ${item(one.item)}, ${one.protocol}`, describe([
    ["Verdict", one.verdict], ["Published", pm(one.published, one.published_spread, one.spread_kind)], ["Ours", `${pm(one.measured, one.standard_error, "standard error")}, ${one.trials} trials`],
    ["Difference", one.difference == null ? "–" : `${show(one.difference, 4)} ${unit}` + (one.half_width == null ? "" : `, 90 % interval ± ${show(one.half_width, 3)}`)],
    ["Rule", (data.rules[one.verdict] || [""])[0]],
    ["In the paper", `${data.papers.citations[one.paper]}, ${item(one.item)}, ${one.metric}${one.M ? `, M = ${one.M}` : ""}`],
    ...(one.cell ? [["The cell", `“${one.cell}” in row ${one.row}, column ${one.column}${one.page ? `, page ${one.page}` : ""}; ${one.checked === "no" ? "not checked" : `checked against the ${one.checked}`}`]] : []),
    ...(one.disputed ? [["Disputed", one.disputed]] : []),
    ...(one.note ? [["Stated there", one.note]] : []), ...(one.same_as ? [["Printed too in", item(one.same_as)]] : []), ...(one.stand_in ? [["Stand-in", one.stand_in]] : []),
    ...(one.folder ? [["Results", one.folder]] : []),
  ]), ...(one.command ? [make("p", {}, "The command that repeats it:"), make("pre", {}, one.command)] : []));
}

function openClaim(one) {
  dialog(`${one.id}, ${one.protocol || "not run"}: ${one.said}`, make("p", {}, one.claim), describe([
    ["In the paper", `${data.papers.citations[one.paper]}, ${one.where}`], ["Source", one.source], ...(one.note ? [["Note", one.note]] : []), ...(one.strongest_answer ? [["The strongest answer of the paper", one.strongest_answer]] : []), ...one.depends_on.map((key) => ["Depends on", key]), ...(one.disputed ? [["Disputed", one.disputed]] : []),
    ["Rule", (data.rules[one.verdict] || [""]).at(-1)],
    ...(one.comparisons ? [["Comparisons", `${one.comparisons}: ${one.inside} inside their bounds, ${one.outside} outside, on ${one.tested} of ${one.datasets} data sets`], ["Least favourable", one.least_favourable], ["Effect (90 % interval)", `${one.effect}, ${one.trials} trials, p = ${show(one.p, 2)}`]] : []),
    ...(one.settled_by ? [["Settled by", `${Math.ceil(one.settled_by)} trials, if means and spreads stay`]] : []), ...one.remarks.map((remark) => ["Remark", remark]),
  ]), ...(one.commands.length ? [make("p", {}, "The commands that repeat it:"), make("pre", {}, one.commands.join("\n"))] : []));
}

function gridTable(caption, first, protocols, rows) {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption }, make("table", { class: "grid" }, make("caption", {}, caption),
    make("thead", {}, make("tr", {}, make("th", { scope: "col" }, first), ...protocols.map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, ...rows.map(([name, cells]) => make("tr", {}, make("th", { scope: "row" }, name), ...cells.map((squares, i) => make("td", { "data-head": protocols[i] }, make("div", { class: "squares" }, ...squares))))))));
}

function papers() {
  const rest = $("rest").checked, found = Array.from({ length: numbersLength }, (_, i) => number(i));
  const seen = found.filter((one) => rest || data.judged.includes(one.verdict));
  const protocols = unique(found.map((one) => one.protocol).concat(data.papers.claims.map((one) => one.protocol))).filter(Boolean);
  const used = unique(seen.map((one) => one.verdict).concat(data.papers.claims.map((one) => one.verdict)));
  $("legend").replaceChildren(...Object.keys(data.marks).filter((verdict) => used.includes(verdict)).map((verdict) =>
    make("span", {}, make("b", { class: `chip ${data.marks[verdict][1]}`, "aria-hidden": "true" }, data.marks[verdict][0]), ` ${verdict}`)));
  const names = unique(data.papers.claims.map((one) => one.paper));
  $("claims").replaceChildren(make("h3", {}, "Claims"), ...names.map((paper) => gridTable(`Claims: ${data.papers.citations[paper]}`, "claim", protocols,
    unique(data.papers.claims.filter((one) => one.paper === paper).map((one) => one.id)).map((id) => {
      const mine = data.papers.claims.filter((one) => one.paper === paper && one.id === id);
      return [`${id}. ${mine[0].claim}`, protocols.map((protocol) => mine.filter((one) => one.protocol === protocol || (!one.protocol && protocol === protocols[0]))
        .map((one) => square(one.verdict, `${id} ${protocol}`, () => openClaim(one))))];
    }))));
  $("numbers").replaceChildren(make("h3", {}, "Numbers"), ...unique(seen.map((one) => one.paper)).map((paper) => {
    const own = seen.filter((one) => one.paper === paper);
    return gridTable(`Numbers: ${data.papers.citations[paper]}`, "table, data set", protocols, unique(own.map((one) => `${item(one.item)}, ${one.dataset}`)).map((name) => {
      const mine = own.filter((one) => `${item(one.item)}, ${one.dataset}` === name);
      return [name, protocols.map((protocol) => mine.filter((one) => one.protocol === protocol).map((one) =>
        square(one.verdict, `${name}, ${one.method}${one.M ? ` M ${one.M}` : ""} ${one.metric}, ${protocol}`, () => openNumber(one))))];
    }));
  }));
}

// ---- failures -------------------------------------------------------------------------------------
function failures() {
  const { kinds, rows, shown } = runs.failures;
  if (!rows) { $("failed").replaceChildren(make("p", {}, "Nothing: every trial ended well.")); return; }
  table($("failed"), `${rows} trials did not end well, in ${kinds} kinds` + (kinds > shown.length ? `; the ${shown.length} most frequent are shown` : ""), ["results", "data set", "method", "M", "status", "message", "trials"],
    shown.map(([place, ...others]) => [runs.experiments[place].name, ...others]), ["results", "data set", "method", "status", "message"]);
}

// ---- all of it ------------------------------------------------------------------------------------
document.querySelectorAll("main form").forEach((form) => form.addEventListener("submit", (event) => event.preventDefault()));
$("experiment").addEventListener("change", () => chooseExperiment(experiment()));
$("dataset").addEventListener("change", chooseDataset);
$("metric").addEventListener("change", draw);
$("axis").addEventListener("change", chooseAxis);
["logx", "logy", "trials", "frontier"].forEach((id) => $(id).addEventListener("change", draw));
$("all").addEventListener("click", () => all(true));
$("none").addEventListener("click", () => all(false));
[dark, phone].forEach((media) => media.addEventListener("change", draw));
const first = runs.experiments.findIndex((one) => !one.paper);
chooseExperiment(Math.max(0, runs.experiments.findIndex((one) => one.name === "quickstart") >= 0 ? runs.experiments.findIndex((one) => one.name === "quickstart") : first));
if (data.papers) { $("rest").addEventListener("change", papers); papers(); }
failures();
document.documentElement.dataset.ready = "yes";
})();
