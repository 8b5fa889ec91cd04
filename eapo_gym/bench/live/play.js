"use strict";
// The page of a game. The server has the game; this shows its state, and sends what the person does.
//
// Every tab follows the same game: `follow` waits for a new version of the state, and draws it. What the server says is
// text, and is shown as such.

const at = id => document.getElementById(id);
let game = { version: -1, status: "starting", view: null };
let drawn = ""; // the moment for which the texts were last laid out: what is being written must survive a redraw
let chosen = -1; // which of the listed actions the arrow keys have reached
let listed = [];
let isSending = false;

/** The viewer of the reports; but the present moment is the environment's own page or screen, if it has one. */
class PlayViewer extends EpisodeViewer {
  drawMoment(moment) {
    if (this.moment !== this.view.moments.length - 1) return super.drawMoment(moment);
    const explored = moment.explore ? el("p", { class: "explored" }, el("span", { class: "label" }, "Explore"), " ", moment.explore) : null;
    if (!game.page && Screen.isIn(game)) {
      touched.draw(game, [explored, section("State", moment.state, "state")].filter(Boolean), this.drawPicture(moment));
      return [this.drawMomentHead(moment), el("div", { class: "scroll" }, touched.root)];
    }
    const usual = super.drawMoment(moment);
    if (!game.page) return usual;
    const [head, record] = usual;
    const shown = game.view.outcome === "playing" ? "What an agent is shown here" : "What an agent is shown, and the outcome";
    return [head, el("div", { class: "scroll" }, explored, page.host, this.details("record", shown, el("div", { class: "record" }, ...record.childNodes)))];
  }
}

const page = new Page();
const touched = new Screen(pick);
const viewer = new PlayViewer(at("viewer"), { picture: pictureOf });

// The server

async function ask(path, body) {
  const request = body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const answer = await fetch(path, request);
  const said = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(said.error), { said });
  return said;
}

async function follow() {
  while (game.status !== "closed") {
    try {
      const state = await ask(`/api/state?after=${game.version}`);
      banner("");
      if (state.version !== game.version) draw(state);
    } catch (error) {
      banner(error.said ? error.message : "The game cannot be reached. Has eapo-gym play ended? What was played is kept.");
      await new Promise(resolve => setTimeout(resolve, 1500));
    }
  }
}

const pictures = new Map();

function pictureOf(name) {
  if (!pictures.has(name)) {
    pictures.set(name, fetch(`/api/picture/${encodeURIComponent(name)}`).then(async answer =>
      answer.ok ? URL.createObjectURL(await answer.blob()) : { missing: (await answer.json()).error }));
  }
  return pictures.get(name);
}

// What is shown

function draw(state) {
  const before = game;
  game = state;
  const { view, status } = state;
  at("env").textContent = state.env;
  at("split").textContent = state.split ? `split ${state.split}` : "";
  at("kept").textContent = state.saved ? `${plural(state.saved, "episode")} kept in ${state.folder}` : "";
  at("kept").title = state.folder;
  if (status === "closed") banner(`The game is closed. ${state.saved ? `What was played is kept in ${state.folder}.` : ""}`);

  const hasScreen = !state.page && Screen.isIn(state);
  document.body.classList.toggle("has-page", Boolean(state.page) || hasScreen);
  const stay = page.draw(state.page, status === "yours");
  if (view) {
    const isSame = before.view && before.view.task === view.task && before.view.repeat === view.repeat;
    if (!isSame) viewer.show(view, view.moments.length - 1);
    else if (view !== before.view) viewer.update(view);
    stay();
    touched.stay();
    document.title = `${view.goal || view.task} · eapo-gym play`;
  }
  const mine = status === "yours";
  at("whose").textContent = { starting: "One moment", busy: "One moment", yours: "Your turn", over: "The end", closed: "Closed" }[status];
  at("when").textContent = !view || !view.moments.length ? "" : mine ? `step ${view.moments.length}` : plural(view.moments.length - 1, "step");
  at("turn").classList.toggle("busy", status === "busy" || status === "starting");
  at("viewer").classList.toggle("aim", mine && hasScreen);
  at("answer").hidden = status === "over" || status === "closed";
  at("answer").disabled = !mine;
  at("over").hidden = status !== "over";
  for (const id of ["again", "next", "choose"]) at(id).disabled = status === "busy" || status === "closed";
  at("again").disabled ||= !view;
  at("prompt").disabled = !state.prompt?.length;
  if (status === "over") drawEnd(state);
  say("notice", status === "yours" ? state.notice : "");
  at("rollback").hidden = !state.rollback;
  at("hint").hidden = !state.hint;
  if (mine) drawTurn(state);
}

function drawTurn({ view }) {
  const now = view.moments.at(-1);
  const moment = `${view.task}/${view.repeat}/${view.moments.length}`;
  if (moment !== drawn) {
    drawn = moment;
    say("problem", "");
    at("think").value = at("explore").value = at("command").value = "";
    at("memory").value = now.memory;
  }
  drawChoices();
  if (document.activeElement === document.body && !document.body.classList.contains("has-page")) at("command").focus();
}

function drawEnd({ view, notice }) {
  at("outcome").textContent = view ? OUTCOMES[view.outcome] : "It did not begin";
  at("outcome").className = `outcome ${view ? view.outcome : ""}`;
  at("over-note").textContent = view ? `${plural(view.moments.length - 1, "step")}. ${notice}` : notice;
  at("over-again").disabled = !view;
}

function drawChoices() {
  const words = at("command").value.toLowerCase().split(/\s+/).filter(Boolean);
  const all = game.offered ?? game.examples ?? [];
  const found = all.filter(command => words.every(word => command.toLowerCase().includes(word)));
  listed = found.length ? found : all;
  chosen = Math.min(chosen, listed.length - 1);
  const note = !all.length ? "This environment does not list its actions." : !found.length ? "No listed action is like that. These are:" : "";
  at("offered").replaceChildren(...(note ? [el("li", { class: "none" }, note)] : []), ...listed.map((command, i) => choice(command, i, found.length ? words : [])));
  at("count").textContent = game.offered ? `${found.length} of ${all.length}` : all.length ? "examples of actions" : "";
}

function choice(command, i, words) {
  const chosenNow = String(i === chosen);
  const onclick = event => pick(command, event.shiftKey || !game.offered);
  return el("li", { id: `choice-${i}`, role: "option", "aria-selected": chosenNow, onclick }, marked(command, words));
}

/** A text with the words that were looked for marked in it. */
function marked(text, words) {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return text; // some letters change their length with their case
  const isMarked = new Array(text.length).fill(false);
  for (const word of words) isMarked.fill(true, lower.indexOf(word), lower.indexOf(word) + word.length);
  const parts = [];
  for (let start = 0, end = 1; start < text.length; start = end++) {
    while (end < text.length && isMarked[end] === isMarked[start]) end++;
    parts.push(isMarked[start] ? el("mark", {}, text.slice(start, end)) : text.slice(start, end));
  }
  return parts;
}

function choose(i) {
  if (!listed.length) return;
  chosen = (i + listed.length) % listed.length;
  drawChoices();
  at("command").setAttribute("aria-activedescendant", `choice-${chosen}`);
  at(`choice-${chosen}`).scrollIntoView({ block: "nearest" });
}

function say(id, text, ...more) {
  at(id).hidden = !text;
  at(id).replaceChildren(...(text ? [visible(text), ...more] : []));
}

function banner(text) {
  say("banner", text);
}

// What the person does

/** Do a command, or only write it down where it can be changed. */
function pick(command, onlyWrite) {
  if (onlyWrite) {
    at("command").value = command;
    at("command").focus();
  } else act(command);
}

async function act(command, anyway = false) {
  if (isSending) return;
  isSending = true;
  say("problem", "");
  const [think, explore, memory] = ["think", "explore", "memory"].map(id => at(id).value);
  try {
    await ask("/api/act", { version: game.version, think, explore, memory, command, anyway });
    chosen = -1;
  } catch (error) {
    const more = error.said?.doubtful ? [el("button", { type: "button", onclick: () => act(command, true) }, "Send it anyway")] : [];
    say("problem", error.said ? error.message : "The game cannot be reached.", ...more);
    at("problem").scrollIntoView({ block: "nearest" });
  } finally {
    isSending = false;
  }
}

async function begin(task, split, problem = "notice") {
  say(problem, "");
  try {
    await ask("/api/begin", { task, split });
    at("choose-box").close();
  } catch (error) {
    say(problem, error.message);
  }
}

function showPrompt() {
  at("prompt-text").replaceChildren(...game.prompt.flatMap(({ role, text, images }) => [
    el("h3", { class: "label" }, role, images ? el("small", {}, ` with ${plural(images, "picture")} before the text`) : null), el("pre", {}, text)]));
  at("prompt-box").showModal();
}

let tasks = [];

async function openChooser() {
  at("choose-split").replaceChildren(...(game.splits ?? []).map(name => el("option", { value: name, selected: name === game.split }, name)));
  at("choose-filter").value = "";
  at("choose-box").showModal();
  await listTasks();
}

async function listTasks() {
  say("choose-problem", "");
  try {
    ({ tasks } = await ask(`/api/tasks?split=${encodeURIComponent(at("choose-split").value)}`));
  } catch (error) {
    tasks = [];
    say("choose-problem", error.message);
  }
  filterTasks();
}

const MOST_TASKS = 500;

function filterTasks() {
  const wanted = at("choose-filter").value.trim().toLowerCase();
  const found = tasks.filter(task => task.toLowerCase().includes(wanted));
  at("choose-count").textContent = found.length > MOST_TASKS ? `the first ${MOST_TASKS} of ${found.length.toLocaleString("en")}` : `${found.length} of ${tasks.length}`;
  at("choose-task").replaceChildren(...found.slice(0, MOST_TASKS).map(task => el("option", { value: task, selected: task === game.view?.task }, task)));
}

at("turn").addEventListener("submit", event => {
  event.preventDefault();
  act(chosen >= 0 && listed[chosen] ? listed[chosen] : at("command").value.trim());
});
at("command").addEventListener("input", () => { chosen = -1; drawChoices(); });
at("command").addEventListener("keydown", event => {
  const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (move) { event.preventDefault(); choose(chosen < 0 && move < 0 ? -1 : chosen + move); }
  else if (event.key === "Escape") { chosen = -1; at("command").value = ""; drawChoices(); }
});
for (const id of ["think", "explore", "memory"]) {
  at(id).addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) at("turn").requestSubmit();
  });
}
at("rollback").addEventListener("click", () => act("rollback"));
at("hint").addEventListener("click", () => ask("/api/hint", {}).catch(error => say("problem", error.message)));
for (const id of ["again", "over-again"]) at(id).addEventListener("click", () => begin(game.view.task, null));
for (const id of ["next", "over-next"]) at(id).addEventListener("click", () => begin(null, null));
at("prompt").addEventListener("click", showPrompt);
at("prompt-close").addEventListener("click", () => at("prompt-box").close());
at("choose").addEventListener("click", openChooser);
at("choose-close").addEventListener("click", () => at("choose-box").close());
at("choose-split").addEventListener("change", listTasks);
at("choose-filter").addEventListener("input", filterTasks);
at("choose-form").addEventListener("submit", event => {
  event.preventDefault();
  const draws = event.submitter?.id === "choose-draw";
  begin(draws ? null : at("choose-task").value || null, at("choose-split").value || null, "choose-problem");
});
document.addEventListener("keydown", event => {
  if (document.querySelector("dialog[open]") || touched.key(event) || viewer.key(event)) return;
  if (event.key === "/" && !isTyping(event.target)) { event.preventDefault(); at("command").focus(); }
});

follow();
