// The operator that is shown, what is decided about it, and the keys.

const current = { shard: null, cards: [], at: -1 };
let split = false;
const byName = new Map(shards.map((shard) => [shard.name, shard]));
const FIRST_CARDS = 3; // made at once; the rest a few at a time, so that keys are answered between them

const say = (message) => { $("live").textContent = message; };
const stillUndecided = (group) => group.editable && !choiceOf(group) && matching.has(group);

function showNothing() {
  Object.assign(current, { shard: null, cards: [], at: -1 });
  $("changes").replaceChildren(h("div", { class: "blank" }, h("h2", null, "Nothing matches"),
    h("p", null, groups.length ? "Clear a filter to see more." : "This plan has no findings.")));
  drawRows();
}

/** The cards of a shard: [groups, how to make it], in the order in which they are shown. */
function cardsOf(shard) {
  const cards = [];
  for (const group of shard.groups.filter((one) => matching.has(one))) {
    const last = cards.at(-1);
    const [one] = group.findings;
    const together = last && !group.editable && !last.editable
      && last.groups[0].findings[0].path === one.path && last.groups[0].findings[0].function === one.function;
    if (together) last.groups.push(group);
    else cards.push({ groups: [group], editable: group.editable, element: null });
  }
  return cards;
}

function make(card) {
  card.element ??= card.editable ? changeCard(card.groups[0], split) : leftCard(card.groups);
  return card.element;
}

/** Show a shard. `at` is the card to go to, -1 for the last; without focus the reader stays where they are. */
function open(shard, { at = 0, focus = true } = {}) {
  const cards = cardsOf(shard);
  Object.assign(current, { shard, cards, at: -1 });
  const hidden = shard.groups.length - cards.reduce((n, card) => n + card.groups.length, 0);
  const operators = shard.operators.filter((name) => name !== shard.name);
  const bases = shard.bases.filter((name) => byName.has(name));
  const main = $("changes");
  main.replaceChildren(
    h("div", { class: "title" },
      h("div", { class: "what" }, h("h2", null, shard.name, " ", seenBadge(shard), " ", h("span", { class: "nth", id: "nth" })),
        h("p", { class: "summary" }, LEVELS.map((name, level) => (shard.levels[level] ? h("span", { class: `dot ${name}` }, `${shard.levels[level]} ${name}`) : null)),
          [1, 2, 3, 4].filter((mode) => shard.modes[mode]).map((mode) => h("span", { class: "badge mode" }, `mode ${mode} ${MODES[mode]}: ${shard.modes[mode]}`)))),
      cards.some((card) => card.editable) ? h("div", { class: "decide", role: "group", "aria-label": "All of this operator" },
        h("button", { type: "button", class: "accept-rest", "aria-keyshortcuts": "a", click: () => rest("accept") }, "Accept the rest ", h("kbd", { "aria-hidden": "true" }, "a")),
        h("button", { type: "button", class: "reject-rest", "aria-keyshortcuts": "d", click: () => rest("reject") }, "Reject the rest ", h("kbd", { "aria-hidden": "true" }, "d"))) : null),
    operators.length ? h("details", { class: "names" }, h("summary", null, `${plural(operators.length, "operator")} ${operators.length === 1 ? "takes" : "take"} part`), h("p", null, operators.map((name) => [h("code", null, name), " "]))) : "",
    bases.length ? h("p", { class: "bases" }, "Lands after ", bases.map((name) => [h("button", { type: "button", class: "link", click: () => open(byName.get(name)) }, name), " "])) : "",
    evidenceOf(shard) || "",
    hidden ? h("p", { class: "hidden" }, `The filters hide ${hidden} more of this operator.`) : "");
  const left = cards.findIndex((card) => !card.editable);
  const add = (from, to) => {
    for (let i = from; i < Math.min(to, cards.length); i++) {
      if (i === left) main.append(h("h3", { class: "divide" }, "Left alone"));
      main.append(make(cards[i]));
    }
  };
  const target = at < 0 ? cards.length - 1 : at;
  const soon = Math.max(FIRST_CARDS, target + 1);
  add(0, soon);
  const later = (from) => {
    if (from >= cards.length || current.cards !== cards) return;
    setTimeout(() => {
      if (current.cards !== cards) return;
      add(from, from + FIRST_CARDS);
      later(from + FIRST_CARDS);
    }, 0);
  };
  later(soon);
  main.scrollTop = 0;
  window.scrollTo(0, 0);
  const name = encodeURIComponent(shard.name);
  if (location.hash !== `#${name}`) window.history.replaceState(null, "", `#${name}`);
  if (focus) focusCard(target);
  else mark(target);
  document.body.classList.remove("menu-open");
  $("menu").setAttribute("aria-expanded", "false");
  showNth();
  reveal();
  showTally();
}

function showNth() {
  $("nth").textContent = `${listed.indexOf(current.shard) + 1} of ${listed.length}`;
}

function mark(at) {
  current.cards[current.at]?.element?.classList.remove("current");
  current.at = at;
  current.cards[at]?.element?.classList.add("current");
}

function focusCard(at) {
  const card = current.cards[at];
  if (!card) return;
  if (!card.element?.isConnected) { open(current.shard, { at }); return; }
  mark(at);
  card.element.focus({ preventScroll: true });
  card.element.scrollIntoView({ block: at === 0 ? "nearest" : "start" });
}

/** The next or the previous card, in the next operator where this one has no more. */
function move(by) {
  const to = current.at + by;
  if (to >= 0 && to < current.cards.length) return focusCard(to);
  return moveShard(by, by < 0 ? -1 : 0);
}

function moveShard(by, at = 0) {
  const next = listed[listed.indexOf(current.shard) + by];
  if (next) open(next, { at });
  else say(by > 0 ? "This is the last change." : "This is the first change.");
}

/** Go to the next change that is not decided, in this operator or the ones after it. */
function onward() {
  const here = current.cards.findIndex((card, i) => i > current.at && card.groups.some(stillUndecided));
  if (here >= 0) return focusCard(here);
  const from = listed.indexOf(current.shard);
  const order = [...listed.slice(from + 1), ...listed.slice(0, from + 1)];
  const shard = order.find((one) => one.groups.some(stillUndecided));
  if (!shard) return say("Every change that the filters show is decided. Press x to export.");
  return open(shard, { at: cardsOf(shard).findIndex((card) => card.groups.some(stillUndecided)) });
}

function showTally() {
  const decided = editable.filter(choiceOf).length;
  $("progress").firstElementChild.style.width = `${editable.length ? (100 * decided) / editable.length : 0}%`;
  $("progress").setAttribute("aria-valuemax", editable.length);
  $("progress").setAttribute("aria-valuenow", decided);
  $("tally").textContent = `${decided} of ${editable.length} decided`;
  $("export").textContent = decided ? `Export ${decided}` : "Export";
}

function showChoices(some) {
  for (const group of some) showChoice(group);
  drawRows();
  showTally();
}

/** A click on a card's button; on the one that is pressed it takes the decision back. */
function press(group, choice) {
  const now = choiceOf(group) === "edit" ? "accept" : choiceOf(group);
  choose([group], now === choice ? "" : choice);
  mark(current.cards.findIndex((card) => card.groups.includes(group)));
  showChoices([group]);
  say(`${STATES[choiceOf(group)] || "Undecided"}: ${group.findings[0].function}`);
}

function decideHere(choice) {
  const card = current.cards[current.at];
  if (!card) return;
  if (!card.editable) {
    say("Nothing to decide here: it is left alone.");
    return onward();
  }
  choose(card.groups, choice);
  showChoices(card.groups);
  say(`${STATES[choice]}: ${card.groups[0].findings[0].function}`);
  return onward();
}

function editHere() {
  const card = current.cards[current.at];
  return card?.editable ? showEdit(card.groups[0]) : say("Nothing to edit here: it is left alone.");
}

/** Decide all of this operator that is not decided and that the filters show. */
function rest(choice) {
  const some = current.shard?.groups.filter(stillUndecided) || [];
  if (!some.length) return say("Every change shown of this operator is decided.");
  choose(some, choice);
  showChoices(some);
  say(`${STATES[choice]}: ${plural(some.length, "change")} of ${current.shard.name}`);
  return onward();
}

function undo() {
  const some = unchoose();
  if (!some.length) return say("Nothing to undo.");
  const [first] = some;
  if (first.shard !== current.shard && listed.includes(first.shard)) open(first.shard, { focus: false });
  showChoices(some);
  say(`Undone: ${plural(some.length, "decision")}`);
  const at = current.cards.findIndex((card) => card.groups.includes(first));
  return at >= 0 ? focusCard(at) : undefined;
}

// Layout and colours.

function setSplit(wanted, remember = true) {
  split = wanted;
  $("unified").setAttribute("aria-pressed", String(!split));
  $("split").setAttribute("aria-pressed", String(split));
  if (remember) setting("split", split ? "1" : "");
  if (!current.shard) return;
  const { at } = current;
  open(current.shard, { at: Math.max(0, at), focus: at > 0 });
}

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  setting("theme", name);
  say(`${name} colours`);
}

// Keys.

const ACTIONS = {
  y: () => decideHere("accept"), n: () => decideHere("reject"), a: () => rest("accept"), d: () => rest("reject"),
  s: () => move(1), u: undo, j: () => move(1), k: () => move(-1), "]": () => moveShard(1), "[": () => moveShard(-1), e: editHere,
  "/": () => { document.body.classList.add("menu-open"); $("search").focus(); $("search").select(); },
  v: () => setSplit(!split), t: () => setTheme(dark() ? "light" : "dark"), x: showExport, "?": showHelp,
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const typing = event.target.closest("input, textarea, select");
  if (typing && event.key === "Escape") {
    document.body.classList.remove("menu-open");
    focusCard(Math.max(0, current.at));
    return;
  }
  if (typing || !Object.hasOwn(ACTIONS, event.key)) return;
  event.preventDefault();
  ACTIONS[event.key]();
});

// A click or a tab into a card makes it the one the keys speak of.
$("changes").addEventListener("focusin", (event) => {
  const element = event.target.closest(".card");
  const at = current.cards.findIndex((card) => card.element === element);
  if (element && at >= 0) mark(at);
});
$("unified").addEventListener("click", () => setSplit(false));
$("split").addEventListener("click", () => setSplit(true));
$("theme").addEventListener("click", () => setTheme(dark() ? "light" : "dark"));
$("help").addEventListener("click", showHelp);
$("export").addEventListener("click", showExport);
$("bulk").addEventListener("click", showBulk);
$("menu").addEventListener("click", () => {
  const shown = document.body.classList.toggle("menu-open");
  $("menu").setAttribute("aria-expanded", String(shown));
  if (shown) $("search").focus();
});
window.addEventListener("storage", (event) => {
  if (event.key !== STORE) return;
  loadChoices();
  showChoices(editable);
});

if (setting("theme")) document.documentElement.dataset.theme = setting("theme");
loadChoices();
fillFilters();
listenToSidebar();
setSplit(setting("split") === null ? innerWidth >= 1500 : Boolean(setting("split")), false);
refilter();

/** The shard that the address names. */
function asked() {
  try {
    return byName.get(decodeURIComponent(location.hash.slice(1)));
  } catch {
    return undefined; // an address that was cut
  }
}

window.addEventListener("hashchange", () => {
  const shard = asked();
  if (shard && shard !== current.shard) open(shard);
});
if (listed.length) open(asked() || listed[0], { focus: false });
else showNothing();
prepareSearch();
