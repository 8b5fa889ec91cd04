"use strict";
// The page: an overview of the runs with the list of their episodes, and one episode in the viewer.
// The address says where one is: "#12/7" is step 7 of episode 12, nothing is the overview.

const KEPT_BLOCKS = 6; // unpacked; the others are unpacked again when they are asked for

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), sign => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
}

/** Data stands behind this script, so that the first page need not wait for the last picture. */
const allRead = new Promise(done => {
  if (document.readyState !== "loading") done();
  else document.addEventListener("DOMContentLoaded", () => done());
});

class Report {
  constructor(index) {
    this.index = index;
    this.blocks = new Map();
    this.run = index.runs.length > 1 ? null : 0; // null compares them all
    this.overview = document.getElementById("overview");
    this.page = document.getElementById("episode");
    index.rows.forEach((row, id) => Object.assign(row, {
      id, runName: index.runs[row.run].name, text: [row.task, row.goal, row.type, row.error, index.runs[row.run].name].join("\n").toLowerCase(),
    }));
    if (!index.alone) this.buildOverview();
    this.buildEpisode();
    document.addEventListener("keydown", event => this.key(event));
    window.addEventListener("hashchange", () => this.follow());
    this.follow();
  }

  // Where one is

  async follow() {
    const place = /^#(\d+)\/(\d+)$/.exec(location.hash);
    const id = place ? Number(place[1]) - 1 : this.index.alone ? 0 : -1;
    const row = this.index.rows[id];
    this.asked = row?.id ?? null;
    if (!row) return this.showOverview();
    const moment = place ? Number(place[2]) - 1 : 0;
    if (this.shown === row) { this.viewer.go(moment); return this.showEpisode(); }
    const view = await this.load(row);
    if (this.asked !== row.id) return; // meanwhile the reader went elsewhere
    this.shown = row;
    this.showEpisode();
    this.viewer.show(view, moment);
    this.markEpisode(row);
    this.loadNext();
  }

  showOverview() {
    this.page.hidden = true;
    this.overview.hidden = false;
    document.title = this.index.title;
    this.list.draw();
    if (this.shown) this.list.window.querySelector(`a[href="#${this.shown.id + 1}/1"]`)?.focus({ preventScroll: true });
  }

  showEpisode() {
    this.overview.hidden = true;
    this.page.hidden = false;
    window.scrollTo(0, 0);
  }

  open(row, moment = 0) {
    this.asked = row.id; // known at once: keys may be faster than the address
    location.hash = `#${row.id + 1}/${moment + 1}`;
  }

  /** Steps replace the address, so that "back" leads to the list and not through every step. */
  noteStep(moment) {
    if (this.shown) history.replaceState(null, "", `#${this.shown.id + 1}/${moment + 1}`);
  }

  neighbour(by) {
    const among = this.index.alone ? this.index.rows : this.list.shown;
    const at = among.indexOf(this.index.rows[this.asked] ?? this.shown);
    return at < 0 ? null : among[at + by] ?? null;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (this.page.hidden) {
      if (event.key === "/" && !isTyping(event.target)) { event.preventDefault(); this.list.search.focus(); }
      return;
    }
    if (isTyping(event.target)) return;
    const to = { j: 1, k: -1 }[event.key];
    if (to) { const row = this.neighbour(to); if (row) this.open(row); }
    else if (event.key === "Escape" && !this.index.alone) location.hash = "";
    else this.viewer.key(event);
  }

  // Data

  async load(row) {
    if (!this.blocks.has(row.block)) this.blocks.set(row.block, this.unpackBlock(row.block));
    const block = this.blocks.get(row.block);
    this.blocks.delete(row.block);
    this.blocks.set(row.block, block); // the one used last is dropped last
    if (this.blocks.size > KEPT_BLOCKS) this.blocks.delete(this.blocks.keys().next().value);
    return (await block)[row.at];
  }

  async unpackBlock(number) {
    await allRead;
    return unpack(document.getElementById(`block-${number}`).textContent);
  }

  loadNext() {
    const row = this.neighbour(1);
    if (row) setTimeout(() => this.load(row), 100);
  }

  async picture(name) {
    const { pictures } = this.index;
    const at = Object.hasOwn(pictures, name) ? pictures[name] : null;
    if (at === null) return { missing: `This picture is not in the report. ${this.index.picture_notice}` };
    await allRead;
    return `data:image/webp;base64,${document.getElementById(`picture-${at}`).textContent}`;
  }

  // The episode

  buildEpisode() {
    this.place = el("span", { class: "place" });
    const step = (text, label, by) => el("button", { type: "button", title: label, "aria-label": label, onclick: () => { const row = this.neighbour(by); if (row) this.open(row); } }, text);
    const bar = el("nav", { class: "episode-bar", "aria-label": "Episodes" },
      el("a", { href: "#", class: "home" }, "← All episodes"),
      el("span", { class: "moves" }, step("↑", "Episode before (k)", -1), this.place, step("↓", "Next episode (j)", 1)),
      el("span", { class: "help" }, el("kbd", {}, "←"), " ", el("kbd", {}, "→"), " steps  ", el("kbd", {}, "j"), " ", el("kbd", {}, "k"), " episodes  ",
        el("kbd", {}, "r"), " raw response  ", el("kbd", {}, "m"), " marks  ", el("kbd", {}, "Esc"), " list"));
    const container = el("div", { class: "viewer-place" });
    if (!this.index.alone) this.page.append(bar);
    this.page.append(container);
    this.viewer = new EpisodeViewer(container, { picture: name => this.picture(name), onStep: moment => this.noteStep(moment) });
  }

  markEpisode(row) {
    document.title = `${row.goal || row.task} · ${this.index.title}`;
    const among = this.index.alone ? this.index.rows : this.list.shown;
    const at = among.indexOf(row);
    this.place.textContent = `${row.runName} · episode ${row.id + 1}` + (at >= 0 && among.length !== this.index.rows.length ? ` (${at + 1} of ${among.length} chosen)` : ` of ${this.index.rows.length}`);
  }

  // The overview

  buildOverview() {
    this.numbers = el("div", { class: "run-numbers" });
    const list = el("section", { class: "episodes" }, el("h2", {}, "Episodes"));
    this.overview.append(...this.heading(), this.numbers, list);
    this.list = new EpisodeList(list, this.index, row => this.open(row));
    this.drawNumbers();
  }

  heading() {
    const { runs } = this.index;
    const tab = (run, name) => el("button", { type: "button", "aria-pressed": "false", onclick: () => this.choose(run) }, name);
    this.tabs = runs.length > 1 ? [null, ...runs.keys()].map(run => [run, tab(run, run === null ? "Compare" : runs[run].name)]) : [];
    this.about = el("header", { class: "run-head" });
    return [this.about, this.tabs.length ? el("div", { class: "tabs", role: "group", "aria-label": "Runs" }, this.tabs.map(([, button]) => button)) : ""];
  }

  choose(run) {
    this.run = run;
    this.drawNumbers();
    if (this.index.runs.length > 1) this.list.narrow({ run: run === null ? "" : String(run) });
  }

  drawNumbers() {
    for (const [run, button] of this.tabs) button.setAttribute("aria-pressed", String(run === this.run));
    const { runs, rows, picture_notice: notice } = this.index;
    this.about.replaceChildren(...aboutRuns(this.run === null ? runs : [runs[this.run]], notice));
    this.numbers.replaceChildren(...(this.run === null
      ? comparison(runs, rows)
      : oneRun(runs[this.run], rows.filter(row => row.run === this.run), outcome => { this.list.narrow({ outcome }); this.list.window.scrollIntoView({ block: "end" }); })));
  }
}

function aboutRuns(runs, notice) {
  const sources = [...new Set(runs.flatMap(run => run.sources))];
  const environments = new Set(runs.map(run => run.environment));
  const facts = runs[0].facts.filter(([name, value]) => runs.every(run => run.facts.some(fact => fact[0] === name && fact[1] === value)));
  const sum = of => runs.reduce((total, run) => total + of(run), 0);
  const missing = sum(run => run.metrics.outcomes.missing);
  const badge = (text, kind = "") => el("span", { class: `badge ${kind}` }, text);
  return [
    el("p", { class: "label" }, "eapo-gym · report"),
    el("h1", {}, runs.length > 1 ? plural(runs.length, "run") : runs[0].agent || runs[0].name,
      environments.size === 1 && runs[0].environment ? el("span", {}, ` on ${runs[0].environment}`) : null),
    el("p", { class: "badges" },
      sources.map(source => badge(SOURCES[source] ?? `source: ${source}`, `source-${source}`)),
      runs.some(run => run.privileged) ? badge(`${runs.length > 1 ? "some agents look" : "the agent looks"} into the environment`, "warn") : null,
      runs.some(run => run.rollback_mode === "restore") ? badge("rollback restores snapshots, as no deployed agent can", "warn") : null,
      missing ? badge(`${missing} of ${plural(sum(run => run.planned), "planned episode")} not played: they count as not solved`, "warn") : null,
      notice ? badge(notice) : null),
    el("dl", { class: "run-facts" }, facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))),
    el("details", { class: "stamp" }, el("summary", {}, "All that is recorded of the settings"),
      runs.map(run => [runs.length > 1 ? el("h4", {}, run.name) : null, el("pre", {}, run.stamp)])),
  ];
}

const SOURCES = {
  embedded: "embedded source: generated tasks, not the benchmark’s own",
  official: "official source: the benchmark’s own tasks",
};

function spread({ mean, std }, digits) {
  if (mean === null) return "–";
  return mean.toFixed(digits) + (std === null ? "" : ` ± ${std.toFixed(digits)}`);
}

function compact(count) {
  return count.toLocaleString("en", { notation: "compact" });
}

// Where tasks can be solved in part, the score says more than the success rate.
function scored({ score, success }) {
  return score && Math.abs(score.mean - success.rate) > 1e-9;
}

function oneRun(run, rows, chooseOutcome) {
  const { metrics } = run;
  const { success, success_over_seeds: seeds, rollbacks_held: held } = metrics;
  const tile = (name, value, note) => el("div", {}, el("dt", { class: "label" }, name), el("dd", {}, value, el("small", {}, note)));
  return [
    el("dl", { class: "tiles" },
      tile("Success", percent(success.rate), `${success.successes} of ${success.n} (95 %: ${(100 * success.low).toFixed(0)}–${(100 * success.high).toFixed(0)})` +
        (seeds.n > 1 ? `; over seeds ${spread({ mean: 100 * seeds.mean, std: 100 * seeds.std }, 1)}` : "")),
      scored(metrics) ? tile("Score", spread(metrics.score, 3), "reward of the task, per episode") : null,
      tile("Steps", spread(metrics.steps, 1), metrics.steps_solved.n ? `solved in ${spread(metrics.steps_solved, 1)}` : "none solved"),
      tile("Exploration", spread(metrics.exploration_degree, 2), `degree; ${spread(metrics.exploration_degree_no_self_loops, 2)} without self-loops`),
      tile("Invalid", percent(metrics.invalid_rate), `of ${plural(metrics.total_steps, "step")}`),
      tile("Format", metrics.format_rate === null ? "–" : percent(metrics.format_rate), metrics.format_rate === null ? "the agent does not aim at it" : "of the responses are right"),
      tile("Rollbacks", percent(metrics.rollback_rate), held.n ? `of the steps; ${held.successes} of ${held.n} held` : "none tried"),
      metrics.calls
        ? tile("Tokens", compact(metrics.prompt_tokens + metrics.response_tokens), `${compact(metrics.response_tokens)} written, in ${plural(metrics.calls, "request")}`) : null,
      tile("Time", seconds(metrics.seconds), `agent ${seconds(metrics.agent_seconds)}, environment ${seconds(metrics.env_seconds)}`)),
    el("div", { class: "cards" },
      card("Outcomes", "", outcomeBar(metrics.outcomes, run.planned, chooseOutcome), rewardParts(metrics.reward_parts)),
      card("Solved within so many steps", "Percent of all that was planned", solvedWithin([{ name: run.name, rows, planned: run.planned }])),
      run.by_type.length ? card("Success by kind of task", "Wilson’s 95 % intervals", forest(run.by_type)) : null,
      run.by_seed.length ? card("Success by seed", "Wilson’s 95 % intervals", forest(run.by_seed)) : null,
      card("Steps", legend(), histogram(rows, row => row.steps, { label: "steps", whole: true })),
      card("Exploration degree", legend(), histogram(rows.filter(row => row.degree !== null), row => row.degree, { label: "exploration degree", to: 1 }))),
  ];
}

function legend() {
  return [el("i", { class: "swatch bar-solved" }), " solved  ", el("i", { class: "swatch bar-other" }), " not solved"];
}

function rewardParts(parts) {
  const rows = Object.entries(parts).filter(([, value]) => value !== null);
  if (!rows.length) return null;
  return el("dl", { class: "numbers" }, el("dt", { class: "label" }, "Mean reward per step"), el("dd"),
    rows.flatMap(([name, value]) => [el("dt", {}, name.replaceAll("_", " ")), el("dd", {}, number(value))]));
}

const COMPARED = ["Success (95 %)", "Steps", "Solved in", "Exploration", "No loops"]; // even where they are the same

function comparison(runs, rows) {
  const columns = [
    ["Success (95 %)", ({ success }) => interval(success)], ["Episodes", ({ success }) => success.n],
    ["Score", ({ score }) => spread(score, 3)],
    ["Steps", ({ steps }) => spread(steps, 1)], ["Solved in", ({ steps_solved: steps }) => spread(steps, 1)],
    ["Exploration", metrics => spread(metrics.exploration_degree, 2)], ["No loops", metrics => spread(metrics.exploration_degree_no_self_loops, 2)],
    ["Invalid", metrics => percent(metrics.invalid_rate)], ["Format", metrics => percent(metrics.format_rate)],
    ["Rollbacks", metrics => percent(metrics.rollback_rate)],
    ["Tokens", metrics => compact(metrics.prompt_tokens + metrics.response_tokens)],
    ["Failed", ({ outcomes }) => outcomes.timeout + outcomes.agent + outcomes.infrastructure],
    ["Source", (metrics, { sources }) => sources.join(", ") || "–"],
  ].map(([name, of]) => ({ name, values: runs.map(run => String(of(run.metrics, run))) }));
  // What is the same for all is said once: the columns are there to compare.
  const isShown = ({ name, values }) => name === "Score" ? runs.some(run => scored(run.metrics)) : COMPARED.includes(name) || new Set(values).size > 1;
  const shown = columns.filter(isShown), same = columns.filter(column => column.name !== "Score" && !isShown(column));
  const arms = runs.map((run, i) => ({ name: run.name, planned: run.planned, rows: rows.filter(row => row.run === i) }));
  const head = name => el("th", { scope: "col", class: "number" }, name);
  return [
    el("div", { class: "compare" }, el("table", {},
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Run"), shown.map(({ name }) => head(name)))),
      el("tbody", {}, runs.map((run, i) => el("tr", {},
        el("th", { scope: "row" }, el("i", { class: `swatch arm-${i % 8}` }), run.name),
        shown.map(({ values }) => el("td", { class: "number" }, values[i]))))))),
    same.length ? el("p", { class: "same" }, "The same for all: ", same.map(({ name, values }) => el("span", {}, name.toLowerCase(), " ", el("b", {}, values[0])))) : "",
    el("div", { class: "cards compared" },
      card("Success", "Wilson’s 95 % intervals", forest(runs.map((run, i) => ({ name: run.name, arm: i % 8, ...run.metrics.success })))),
      card("Solved within so many steps", "Percent of all that was planned", solvedWithin(arms, 600))),
  ];
}

unpack(document.getElementById("index").textContent).then(
  index => { globalThis.report = new Report(index); },
  error => document.body.prepend(el("p", { class: "broken", role: "alert" }, `This report cannot be read: the file is damaged, or the browser is older than 2023 (${error.message}).`)));
