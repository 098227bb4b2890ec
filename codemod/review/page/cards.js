// One card for each change, one for each function that is left alone, and the evidence.

const badge = (level) => h("span", { class: `badge ${LEVELS[level]}` }, LEVELS[level]);
const place = (path, number) => h("span", { class: "place" }, path, number ? `:${number}` : "");

function ruleButton(name) {
  if (!data.rules[name]) return h("span", { class: "rule" }, name);
  return h("button", { type: "button", class: "rule", title: "Read the manual page", click: () => showRule(name) }, name);
}

/** How a symbolic tensor arrives: the steps in a line, and unfolded with their places; null where nothing is known. */
function reachOf(steps) {
  if (!steps.length) return null;
  const brief = steps.flatMap((step, i) => [i > 0 && h("span", { class: "then" }, " \u2192 "), prose(step.text)]);
  return h("details", { class: "reach" },
    h("summary", null, "A symbolic tensor arrives: ", h("span", { class: "brief" }, brief)),
    h("ol", null, steps.map((step) => h("li", null, prose(step.text), " ", place(step.path, step.line)))));
}

/** What is said beside lines, each thing once: rule, message, reason, and where the value goes. */
function notesFor(findings) {
  const seen = new Map();
  for (const one of findings) {
    const key = [one.rule, one.message, one.reason].join("\0");
    seen.set(key, [...(seen.get(key) || []), one]);
  }
  return h("div", { class: "notes", role: "note" }, [...seen.values()].map((alike) => {
    const [one] = alike;
    const flow = one.flow();
    return h("div", { class: `note ${LEVELS[one.level]}` },
      ruleButton(one.rule), alike.length > 1 && ` \u00d7${alike.length}`, " ", prose(one.message),
      one.reason && h("div", { class: "reason" }, prose(one.reason)),
      flow.length > 0 && h("details", null, h("summary", null, `value flows to ${plural(flow.length, "place")}`),
        h("ol", { class: "flow" }, flow.map((step) => h("li", null,
          h("span", { class: "place" }, step.path === one.path ? `line ${step.line}` : `${step.path}:${step.line}`), " ", h("code", null, step.text))))));
  }));
}

function byLine(findings, path) {
  const lines = new Map();
  for (const one of findings) if (one.path === path) lines.set(one.line, [...(lines.get(one.line) || []), one]);
  return lines;
}

/** The card of a group that edits something. */
function changeCard(group, split) {
  const first = group.findings[0];
  const shown = new Set();
  const files = group.files.map((file) => {
    const path = text(file.path);
    const lines = byLine(group.findings, path);
    const notes = (row) => (row.o !== undefined && lines.get(row.o)) || [];
    for (const block of file.blocks) rowsOf(block).flatMap(notes).forEach((one) => shown.add(one));
    const body = file.blocks.length ? diffOf(file.blocks, split, notes)
      : h("p", { class: "empty" }, "The edits no longer fit this file; run symfix review --html again.");
    return h("div", { class: "file" },
      group.files.length > 1 || path !== first.path ? h("h4", null, place(path)) : null, body);
  });
  const rest = group.findings.filter((one) => !shown.has(one));
  const title = `card-${group.number}`;
  const card = h("article", { class: "card change", tabindex: "-1", "aria-labelledby": title, "data-group": group.number },
    h("header", null,
      h("div", { class: "what" },
        h("h3", { id: title }, first.function || "outside any function"),
        h("div", { class: "where" }, place(first.path, first.line), badge(group.level), seenBadge(group),
          [...new Set(group.findings.map((f) => f.mode))].sort().map((mode) => h("span", { class: "badge mode", title: MODES[mode] }, `mode ${mode}`)),
          h("span", { class: "together" }, group.findings.length > 1 ? `${plural(group.findings.length, "site")}, all or none` : "1 site"))),
      h("div", { class: "decide", role: "group", "aria-label": "Decision" },
        h("span", { class: "state" }),
        h("button", { type: "button", class: "accept", "aria-keyshortcuts": "y", click: () => press(group, "accept") }, "Accept ", h("kbd", { "aria-hidden": "true" }, "y")),
        h("button", { type: "button", class: "reject", "aria-keyshortcuts": "n", click: () => press(group, "reject") }, "Reject ", h("kbd", { "aria-hidden": "true" }, "n")),
        h("button", { type: "button", class: "edit", "aria-keyshortcuts": "e", click: () => showEdit(group) }, "Edit ", h("kbd", { "aria-hidden": "true" }, "e")))),
    h("div", { class: "written" }), reachOf(first.reach()), files,
    rest.length ? h("div", { class: "rest" }, h("p", null, "Also in this change"), notesFor(rest)) : null);
  group.card = card;
  showChoice(group);
  return card;
}

const STATES = { accept: "Accepted", reject: "Rejected", edit: "Accepted as edited", "": "" };

/** Bring a group's card to what is decided. */
function showChoice(group) {
  if (!group.card || !group.editable) return;
  const choice = choiceOf(group);
  group.card.dataset.choice = choice;
  group.card.querySelector(".state").textContent = STATES[choice];
  group.card.querySelector(".accept").setAttribute("aria-pressed", choice === "accept" || choice === "edit");
  group.card.querySelector(".reject").setAttribute("aria-pressed", choice === "reject");
  const draft = drafts.get(group.key);
  group.card.querySelector(".written").replaceChildren(...(draft === undefined ? [] : [
    h("p", null, "Accepted as you wrote it; below is what symfix would write."), h("pre", { tabindex: "0" }, draft)]));
}

/** The code of one finding that is left alone, its path from the call to the last place, the sink, named. */
function pathOf(one) {
  const flow = one.flow();
  const name = (at) => (at === 0 ? "call" : at === flow.length ? "sink" : `step ${at}`);
  const code = one.code.filter((file) => file.blocks.length);
  if (!code.length) {
    return h("ol", { class: "flow" }, [{ path: one.path, line: one.line, text: one.message }, ...flow].map(
      (step) => h("li", null, place(step.path, step.line), " ", h("code", null, step.text))));
  }
  return code.map((file) => [
    text(file.path) === one.path ? null : place(text(file.path)),
    excerptOf(file.blocks, (row) => {
      const names = flow.length ? row.place.map(name) : ["here"];
      return h("span", { class: `step ${names.at(-1)}` }, names.map((label) => h("span", null, label)));
    }),
  ]);
}

/** The card of groups that edit nothing and stand in one function. */
function leftCard(members) {
  const findings = members.flatMap((group) => group.findings);
  const [first] = findings;
  const oneReach = findings.every((one) => one.reachNumber === first.reachNumber);
  const title = `card-${members[0].number}`;
  const said = (one) => [one.rule, one.message, one.reason, one.refusal, oneReach || one.reachNumber].join("\0");
  const sites = runs(findings, said).map((alike) => {
    const [one] = alike;
    const lines = [...new Set(alike.map((f) => f.line))];
    return h("section", { class: "site" },
      h("h4", null, h("span", { class: "place" }, lines.length > 1 ? "lines " : "line ", lines.join(", ")), " ", prose(one.message)),
      one.reason && h("p", { class: "reason" }, prose(one.reason)),
      h("div", { class: "why" }, one.refusal && h("span", { class: "badge refusal" }, one.refusal), badge(one.level),
        h("span", { class: "badge mode", title: MODES[one.mode] }, `mode ${one.mode}`), ruleButton(one.rule)),
      oneReach ? null : reachOf(one.reach()), alike.map(pathOf));
  });
  const card = h("article", { class: "card left", tabindex: "-1", "aria-labelledby": title, "data-group": members[0].number },
    h("header", null, h("div", { class: "what" }, h("h3", { id: title }, first.function || "outside any function"),
      h("div", { class: "where" }, place(first.path, first.line), h("span", null, plural(findings.length, "site"), " left as ", findings.length === 1 ? "it is" : "they are")))),
    oneReach ? reachOf(first.reach()) : null, sites);
  for (const group of members) group.card = card;
  return card;
}

/** The checks that ended otherwise before and after, and how many did not. */
function checksOf(checks) {
  const all = Object.entries(checks);
  const changed = all.filter(([, [before, after]]) => before !== after);
  const same = all.length - changed.length;
  return all.length > 0 && h("details", { open: changed.length > 0 }, h("summary", null, plural(all.length, "check")),
    changed.map(([name, [before, after]]) => h("div", null, h("code", null, name), ` ${before} \u2192 ${after}`)),
    same > 0 && h("div", null, `${same} as before`));
}

/** Before and after, as they ran. */
function evidenceOf({ evidence, groups: all }) {
  if (!evidence.length) return null;
  const part = all.some((group) => group.editable && !group.seen);
  const cell = (verdict) => (verdict
    ? [h("b", { class: verdict.status }, verdict.status), verdict.mode ? ` (mode ${verdict.mode})` : "",
      verdict.message && h("details", null, h("summary", null, "message"), h("pre", null, verdict.message)),
      verdict.guards.length > 0 && h("details", null, h("summary", null, plural(verdict.guards.length, "guard")), h("pre", null, verdict.guards.join("\n"))),
      verdict.frames ? h("div", null, plural(verdict.frames, "frame")) : null,
      verdict.unbacked && h("div", null, `unbacked: ${verdict.unbacked}`)]
    : "not run");
  return h("section", { class: "evidence" }, h("h3", null, part ? "Evidence, of the safe changes alone" : "Evidence"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Evidence table" }, h("table", null,
      h("thead", null, h("tr", null, ["Operator", "Outcome", "Before", "After", "Ran on"].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", null, evidence.map((one) => h("tr", null,
        h("th", { scope: "row" }, one.operator),
        h("td", null, h("b", { class: one.outcome.replace(" ", "-") }, one.outcome), one.reason && h("div", null, one.reason)),
        h("td", null, cell(one.before)), h("td", null, cell(one.after), checksOf(one.checks)),
        h("td", null, Object.entries(one.versions).map(([name, value]) => h("div", null, `${name} ${value}`)),
          one.compiled.length > 0 && h("div", null, `${plural(one.compiled.length, "source")} type-checked`),
          one.repro && h("details", null, h("summary", null, "script"), h("pre", null, one.repro)))))))));
}
