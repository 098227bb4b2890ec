// The data as objects, what was decided, and small tools. All text enters the page as text, never as HTML.

const data = JSON.parse(document.getElementById("data").textContent);
const text = (number) => data.strings[number];
const LEVELS = ["safe", "review", "manual"];
const OUTCOMES = ["worse", "cured", "unchanged", "not provable"]; // what counts most comes first
const MODES = ["", "direct throw", "Python branch", "TensorIterator", "leak into int64_t"];

/** What was seen of a shard, or a group, in a word; nothing where nothing was run. */
const seenBadge = ({ seen }) => seen && h("b", { class: `seen ${seen.replace(" ", "-")}` }, seen);

/** Text in which `code` stands between backticks. */
function prose(string) {
  return string.split("`").map((part, i) => (i % 2 ? h("code", null, part) : part));
}

function finding(list) {
  const [path, line, column, mode, level, rule, fn, message, reason, refusal, reach, flow, operators, code] = list;
  const steps = (number) => data.steps[number].map(([p, l, t]) => ({ path: text(p), line: l, text: text(t) }));
  return {
    path: text(path), line, column, mode, level, rule: text(rule), function: text(fn), message: text(message),
    reason: text(reason), refusal: text(refusal), operators: data.operators[operators], code,
    reachNumber: reach, reach: () => steps(reach), flow: () => steps(flow),
  };
}

const groups = [];
const shards = data.shards.map((entry, number) => {
  const seen = OUTCOMES.find((outcome) => entry.evidence.some((record) => record.outcome === outcome)) || "";
  const shard = { ...entry, number, seen, groups: [], levels: [0, 0, 0], modes: [0, 0, 0, 0, 0], findings: 0 };
  for (const raw of entry.groups) {
    const group = { ...raw, shard, number: groups.length, findings: raw.findings.map(finding), editable: Boolean(raw.files) };
    group.seen = raw.ran ? seen : "";
    group.key = group.editable ? group.decision.id : "";
    for (const one of group.findings) {
      shard.levels[one.level]++;
      shard.modes[one.mode]++;
      shard.findings++;
    }
    groups.push(group);
    shard.groups.push(group);
  }
  // What can be decided comes first; of the rest, what stands in one function stays together.
  shard.groups.sort((a, b) => b.editable - a.editable || a.number - b.number);
  return shard;
});
const editable = groups.filter((group) => group.editable);

/** What a search looks in, made when it is first needed. */
function haystack(group) {
  group.hay ??= [
    group.shard.name, ...group.shard.operators,
    ...group.findings.flatMap((f) => [f.path, f.function, f.rule, f.message, f.reason, f.refusal]),
  ].join("\n").toLowerCase();
  return group.hay;
}

// Choices: those of the plan, and over them those made here, which the browser keeps.
const STORE = `symfix-review:${data.title}`;
const choices = new Map();
const drafts = new Map(); // what was written here in place of a change's text
const history = [];

function kept() {
  try {
    return JSON.parse(localStorage.getItem(STORE)) || {};
  } catch {
    return {};
  }
}

function loadChoices() {
  const stored = kept();
  for (const group of editable) {
    const planned = group.decided?.choice || "";
    // [choice, what the plan said then]: a plan that says something else by now is the later word. [..., what was
    // written, in place of what]: of other lines by now, it is none of this change.
    const [choice, then, draft, base] = stored[group.key] || [planned, planned];
    const holds = then === planned && (draft === undefined || base === group.draft);
    put(group, holds ? choice : planned, holds ? draft : undefined);
  }
}

function keepChoices() {
  const stored = kept();
  for (const group of editable) {
    const planned = group.decided?.choice || "";
    const now = choices.get(group.key) || "";
    const draft = drafts.get(group.key);
    if (draft !== undefined) stored[group.key] = [now, planned, draft, group.draft];
    else if (now === planned) delete stored[group.key];
    else stored[group.key] = [now, planned];
  }
  try {
    localStorage.setItem(STORE, JSON.stringify(stored));
    return true;
  } catch {
    return false;
  }
}

const choiceOf = (group) => choices.get(group.key) || "";

/** Have `choice` be that of a group; `draft` is what was written in its place, with "edit" alone. */
function put(group, choice, draft) {
  if (choice) choices.set(group.key, choice);
  else choices.delete(group.key);
  if (choice === "edit" && draft !== undefined) drafts.set(group.key, draft);
  else drafts.delete(group.key);
}

const stateOf = (group) => [group, choiceOf(group), drafts.get(group.key)];

/** Take `choice` ("accept", "reject" or "") for `some` groups, so that one undo takes all of it back. */
function choose(some, choice) {
  const before = some.map(stateOf);
  for (const group of some) {
    // Accepting what the reviewer has edited accepts it as edited, for that is what the page shows.
    const edited = choice === "accept" && (group.decided?.choice === "edit" || drafts.has(group.key));
    put(group, edited ? "edit" : choice, drafts.get(group.key));
  }
  history.push(before);
  keepChoices();
}

/** Accept a change as `draft`, which the reviewer wrote; as symfix would write it where that is undefined. */
function write(group, draft) {
  history.push([stateOf(group)]);
  put(group, draft === undefined ? "accept" : "edit", draft);
  keepChoices();
}

/** Undo the last choice; the groups it was about. */
function unchoose() {
  const before = history.pop() || [];
  for (const [group, choice, draft] of before) put(group, choice, draft);
  keepChoices();
  return before.map(([group]) => group);
}

/** The decisions in the form that `symfix review --import` takes. */
function decisionsDocument() {
  const decisions = editable.filter(choiceOf).map((group) => {
    const choice = choiceOf(group);
    if (drafts.has(group.key)) return { ...group.decision, choice, draft: drafts.get(group.key) };
    return choice === group.decided?.choice ? group.decided : { ...group.decision, choice };
  });
  return JSON.stringify({ format: "symfix-decisions", version: 1, decisions }, null, 1) + "\n";
}

/** Take the decisions of a document; how many there were, and how many are about changes of this page. */
function takeDecisions(source) {
  const read = JSON.parse(source);
  if (read?.format !== "symfix-decisions" || read.version !== 1) throw new Error("not a file of decisions");
  const byKey = new Map(editable.map((group) => [group.key, group]));
  const before = [];
  for (const entry of read.decisions) {
    const group = byKey.get(entry.id);
    const same = group && Object.entries(entry.files).every(([path, sha]) => group.decision.files[path] === sha);
    if (!same) continue;
    before.push(stateOf(group));
    if (entry.choice === "edit" && entry.draft === undefined) group.decided = entry;
    put(group, entry.choice, entry.draft === undefined ? undefined : String(entry.draft));
  }
  history.push(before);
  keepChoices();
  return [read.decisions.length, before.length];
}
