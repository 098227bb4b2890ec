// The list of operators, of which only the rows in sight are elements, and the filters above it.

const ROW = 54; // pixels; the style's --row
const filters = { search: "", decision: "", level: "", mode: "", rule: "", refusal: "", evidence: "" };
let listed = []; // the shards that match
let matching = new Set(); // the groups that match

const DECISIONS = {
  undecided: (group) => group.editable && !choiceOf(group),
  decided: (group) => group.editable && choiceOf(group),
  accept: (group) => group.editable && ["accept", "edit"].includes(choiceOf(group)),
  reject: (group) => group.editable && choiceOf(group) === "reject",
  editable: (group) => group.editable,
  left: (group) => !group.editable,
};

function matches(group, words) {
  const { decision, level, mode, rule, refusal, evidence } = filters;
  if (decision && !DECISIONS[decision](group)) return false;
  if (level && group.level !== Number(level)) return false;
  if (mode && !group.findings.some((one) => one.mode === Number(mode))) return false;
  if (rule && !group.findings.some((one) => one.rule === rule)) return false;
  if (refusal && !group.findings.some((one) => one.refusal && (refusal === "*" || one.refusal === refusal))) return false;
  if (evidence && (!group.editable || (group.seen || "none") !== evidence)) return false;
  return words.every((word) => haystack(group).includes(word));
}

/** Whether anything of a shard is to decide. */
const undecided = (shard) => shard.groups.some((group) => group.editable && !choiceOf(group));

const ORDERS = {
  decide: ["To decide first", (a, b) => undecided(b) - undecided(a) || a.number - b.number],
  name: ["Name", (a, b) => a.number - b.number],
  findings: ["Most findings", (a, b) => b.findings - a.findings || a.number - b.number],
  changes: ["Most changes", (a, b) => b.changes - a.changes || a.number - b.number],
};

function count(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) || 0) + 1);
  return counts;
}

function fill(id, all, entries) {
  $(id).replaceChildren(h("option", { value: "" }, all), ...entries.map(([value, label]) => h("option", { value }, label)));
}

function fillFilters() {
  const findings = groups.flatMap((group) => group.findings);
  const byMode = count(findings.map((one) => one.mode));
  const byLevel = count(groups.map((group) => group.level));
  const ranked = (names) => [...count(names)].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const options = (entries) => entries.map(([name, n]) => [name, `${name} (${n})`]);
  fill("by-decision", "Any", [
    ["undecided", "Undecided"], ["decided", "Decided"], ["accept", "Accepted"], ["reject", "Rejected"],
    ["editable", "Can be decided"], ["left", "Left alone"],
  ]);
  fill("by-level", "Any", [0, 1, 2].filter((l) => byLevel.has(l)).map((l) => [l, `${LEVELS[l]} (${byLevel.get(l)})`]));
  fill("by-mode", "Any", [1, 2, 3, 4].filter((m) => byMode.has(m)).map((m) => [m, `${m} ${MODES[m]} (${byMode.get(m)})`]));
  fill("by-rule", "Any", options(ranked(findings.map((one) => one.rule))));
  const refused = findings.filter((one) => one.refusal).map((one) => one.refusal);
  fill("by-refusal", "Any", [["*", `with a reason (${refused.length})`], ...options(ranked(refused))]);
  for (const shard of shards) shard.changes = shard.groups.filter((group) => group.editable).length;
  const seen = count(editable.map((group) => group.seen || "none"));
  const outcomes = [...OUTCOMES, "none"].filter((outcome) => seen.has(outcome));
  fill("by-evidence", "Any", outcomes.map((outcome) => [outcome, `${outcome === "none" ? "not run" : outcome} (${seen.get(outcome)})`]));
  $("order").replaceChildren(...Object.entries(ORDERS).map(([value, [label]]) => h("option", { value }, label)));
}

/** Find again what the filters let through, and show it. */
function refilter() {
  const words = filters.search.toLowerCase().split(/\s+/).filter(Boolean);
  matching = new Set(groups.filter((group) => matches(group, words)));
  listed = shards.filter((shard) => shard.groups.some((group) => matching.has(group))).sort(ORDERS[$("order").value][1]);
  const active = Object.values(filters).some(Boolean);
  const changes = [...matching].filter((group) => group.editable).length;
  $("matches").firstElementChild.textContent =
    `${plural(listed.length, "operator")}, ${plural(changes, "change")}, ${matching.size - changes} left alone`;
  $("clear").hidden = !active;
  $("rows").style.height = `${listed.length * ROW}px`;
  drawRows();
}

function statusOf(shard) {
  const can = shard.groups.filter((group) => group.editable);
  if (!can.length) return ["none", "explained"];
  const made = can.map(choiceOf).filter(Boolean);
  if (made.length < can.length) return [made.length ? "part" : "open", `${made.length}/${can.length}`];
  const rejected = made.filter((choice) => choice === "reject").length;
  if (!rejected) return ["accepted", "accepted"];
  return rejected === made.length ? ["rejected", "rejected"] : ["mixed", "decided"];
}

function rowOf(shard, index) {
  const [state, label] = statusOf(shard);
  const modes = [1, 2, 3, 4].filter((mode) => shard.modes[mode]);
  const row = h("div", {
    class: `row ${state}`, role: "option", id: `row-${shard.number}`, "aria-selected": String(shard === current.shard),
    "aria-posinset": index + 1, "aria-setsize": listed.length, click: () => open(shard),
  },
  h("span", { class: "name" }, shard.name, " ", seenBadge(shard)), h("span", { class: "status" }, label),
  h("span", { class: "facts" }, h("span", { class: "counts" },
    LEVELS.map((name, level) => (shard.levels[level] ? h("span", { class: `dot ${name}` }, `${shard.levels[level]} ${name}`) : null))),
  h("span", { class: "modes" }, modes.map((mode) => h("span", { title: `mode ${mode}: ${MODES[mode]}` }, `M${mode}\u2009${shard.modes[mode]} `)))));
  row.style.top = `${index * ROW}px`;
  return row;
}

/** Make the rows in sight, and a few around them. */
function drawRows() {
  const box = $("operators");
  const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 8);
  const last = Math.min(listed.length, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + 8);
  const rows = listed.slice(first, last).map((shard, i) => rowOf(shard, first + i));
  $("rows").replaceChildren(...rows);
  const selected = current.shard && rows.some((row) => row.id === `row-${current.shard.number}`);
  if (selected) box.setAttribute("aria-activedescendant", `row-${current.shard.number}`);
  else box.removeAttribute("aria-activedescendant");
}

/** Scroll the list so that the current operator is in sight. */
function reveal() {
  const index = listed.indexOf(current.shard);
  const box = $("operators");
  if (index >= 0) {
    const top = index * ROW;
    const seen = top >= box.scrollTop && top + ROW <= box.scrollTop + box.clientHeight;
    const close = top >= box.scrollTop - ROW && top <= box.scrollTop + box.clientHeight;
    if (close && !seen) box.scrollTop = top < box.scrollTop ? top : top + ROW - box.clientHeight;
    else if (!seen) box.scrollTop = top - box.clientHeight / 3;
  }
  drawRows();
}

function listenToSidebar() {
  const box = $("operators");
  let drawing = false;
  box.addEventListener("scroll", () => {
    if (drawing) return;
    drawing = true;
    requestAnimationFrame(() => { drawing = false; drawRows(); });
  });
  new ResizeObserver(drawRows).observe(box);
  box.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(box.clientHeight / ROW) - 1);
    const at = listed.indexOf(current.shard);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: at + page, PageUp: at - page, Home: 0, End: listed.length - 1 }[event.key];
    if (event.key === "Enter" && current.shard) focusCard(0);
    else if (to === undefined || !listed.length) return;
    else open(listed[Math.min(listed.length - 1, Math.max(0, to))], { focus: false });
    event.preventDefault();
  });
  $("filters").addEventListener("submit", (event) => event.preventDefault());
  for (const name of ["decision", "evidence", "level", "mode", "rule", "refusal"]) {
    $(`by-${name}`).addEventListener("change", (event) => { filters[name] = event.target.value; filtered(); });
  }
  $("order").addEventListener("change", filtered);
  $("search").addEventListener("input", (event) => { filters.search = event.target.value; filtered(); });
  $("clear").addEventListener("click", () => {
    for (const name of Object.keys(filters)) filters[name] = "";
    for (const select of $("filters").querySelectorAll("select:not(#order)")) select.value = "";
    $("search").value = "";
    filtered();
    $("search").focus();
  });
}

let waiting = 0;

/** Show what a changed filter leaves: the same operator where it still matches, else the first. */
function filtered() {
  refilter();
  clearTimeout(waiting);
  if (!listed.length) return showNothing();
  const shard = listed.includes(current.shard) ? current.shard : listed[0];
  const before = current.cards.flatMap((card) => card.groups);
  const after = cardsOf(shard).flatMap((card) => card.groups);
  if (shard === current.shard && before.length === after.length && after.every((group, i) => group === before[i])) {
    showNth();
    return reveal();
  }
  // The list answers at once; the diffs follow when the keys pause.
  waiting = setTimeout(() => open(shard, { focus: false }), 30);
  return undefined;
}

/** Make what a search looks in while nothing else is to be done. */
function prepareSearch(from = 0) {
  const idle = window.requestIdleCallback || ((work) => setTimeout(() => work({ timeRemaining: () => 5 }), 50));
  idle((deadline) => {
    let at = from;
    while (at < groups.length && deadline.timeRemaining() > 1) haystack(groups[at++]);
    if (at < groups.length) prepareSearch(at);
  });
}
