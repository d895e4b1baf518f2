// The account's keys: a list, a form, a question before one is revoked, and a new key that is shown once.
import { freshId, h, openPanel, refill, setText, tell } from "./_dom.js";
import { keepAsking } from "./_live.js";
import { fieldProblem } from "./_problem.js";

const COLUMNS = ["Name", "Key", "Limit", "State", "Created", "Last used"];

function render({ model, el }) {
  const frame = openPanel(model, el, "key_manager", "API keys");
  const words = () => model.get("words") || {};
  const plain = (text, act) => h("button", { type: "button", class: "rb-plain", onclick: act }, text);
  const filled = (text, act) => h("button", { type: "button", class: "rb-primary", onclick: act }, text);
  const badge = h("span", { class: "rb-badge" }, "sandbox");
  const summary = h("span", { class: "rb-quiet rb-sum" });
  const refresh = plain("Refresh", () => tell(model, { name: "refresh" }));
  const make = plain("New key", () => openForm("create"));
  const change = plain("Rotate", () => openForm("rotate"));
  const rows = h("tbody");
  const table = h("table", {}, h("thead", {}, h("tr", {}, ...COLUMNS.map((word) => h("th", { scope: "col" }, word)),
    h("th", {}, h("span", { class: "rb-hidden" }, "Revoke")))), rows);
  const empty = h("p", { class: "rb-quiet" }, "The keys are listed here.");

  // The form for a new key, or for one that replaces the key in use.
  const title = h("h3");
  const about = h("p", { class: "rb-quiet" });
  const called = h("input", { id: freshId("name"), type: "text", autocomplete: "off", spellcheck: "false" });
  const limit = h("input", { id: freshId("limit"), type: "number", min: 1, inputmode: "numeric" });
  const wrongName = fieldProblem(called);
  const wrongLimit = fieldProblem(limit);
  const go = filled("Create key", () => send());
  const form = h("div", { class: "rb-sheet", hidden: true }, title, about,
    h("div", { class: "rb-pair" },
      h("div", {}, h("label", { class: "rb-label", for: called.id }, "Name"), called, wrongName.node),
      h("div", {}, h("label", { class: "rb-label", for: limit.id }, "Requests a minute"), limit, wrongLimit.node)),
    h("div", { class: "rb-acts" }, go, plain("Cancel", () => closeForm())));
  let kind = "create";
  let opener = null;
  const openForm = (which) => {
    kind = which;
    opener = which === "create" ? make : change;
    const rotating = which === "rotate";
    setText(title, rotating ? "Rotate the key in use" : "New key");
    setText(about, rotating
      ? "A new key is made and tried with one request. Then this session uses it; clips under way go on. The old key works until you revoke it, as the last step."
      : "It is shown once, when it is made. One key for each person or machine can be revoked alone.");
    setText(go, rotating ? "Create, try and use it" : "Create key");
    called.value = rotating ? words().next : "";
    limit.max = words().most;
    limit.value = rotating ? words().limit : words().usual;
    for (const each of [wrongName, wrongLimit]) each.show("");
    form.hidden = false;
    called.focus();
  };
  const closeForm = () => {
    form.hidden = true;
    if (opener) opener.focus();
  };
  const send = () => {
    const number = Number(limit.value);
    const named = Boolean(called.value.trim());
    const limited = Number.isInteger(number) && number >= 1 && number <= words().most;
    wrongName.show(named ? "" : "A key needs a name, so that you recognise it in the list.");
    wrongLimit.show(limited ? "" : `The limit is a whole number from 1 to ${words().most}.`);
    if (!named || !limited) return (named ? limit : called).focus();
    tell(model, { name: kind, called: called.value.trim(), limit: number });
    closeForm();
  };
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeForm();
    if (event.key === "Enter" && event.target.tagName === "INPUT") { event.preventDefault(); send(); }
  });

  // The new key: only in this page, until it is put away or its time is over.
  const secretText = h("p");
  const secret = h("input", { type: "text", readonly: true, "aria-label": "The new key", autocomplete: "off", spellcheck: "false" });
  const left = h("span", { class: "rb-quiet" });
  const copied = h("span", { class: "rb-quiet" });
  const copy = filled("Copy", async () => {
    try {
      await navigator.clipboard.writeText(secret.value);
      setText(copied, "Copied.");
    } catch {
      secret.select();
      setText(copied, "Select it and press Ctrl+C.");
    }
    frame.say(copied.textContent);
  });
  const download = plain("Download", () => {
    const url = URL.createObjectURL(new Blob([`${secret.value}\n`], { type: "text/plain" }));
    h("a", { href: url, download: `${secretName.replace(/[^\p{L}\p{N}._-]+/gu, "-") || "key"}.txt` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
  const secretBox = h("div", { class: "rb-sheet rb-secret", hidden: true }, secretText, secret,
    h("div", { class: "rb-acts" }, copy, download, plain("Done", () => { forget(); make.focus(); }), copied, left));
  let secretName = "";
  let secretId = "";
  let endsAt = 0;
  let timer = 0;
  // A second key would take the place of the one that is shown.
  const ready = () => { make.disabled = change.disabled = Boolean(words().busy) || !secretBox.hidden; };
  const forget = () => {
    clearInterval(timer);
    secret.value = "";
    secretBox.hidden = true;
    setText(copied, "");
    ready();
  };
  const showSecret = (content) => {
    tell(model, { name: "shown", id: content.id });
    if (secretId === content.id) return;  // once
    secretId = content.id;
    secretName = content.called;
    secret.value = content.key;
    setText(secretText, content.text);
    secretBox.hidden = false;
    ready();
    endsAt = performance.now() + content.seconds * 1000;
    clearInterval(timer);
    const tick = () => {
      const seconds = Math.ceil((endsAt - performance.now()) / 1000);
      setText(left, `Shown for ${seconds} s more.`);
      if (seconds <= 0) forget();
    };
    timer = setInterval(tick, 500);
    tick();
    copy.focus();
    frame.say("The new key is shown. Copy or download it now.");
  };
  frame.onClose(forget);

  // What is left to do in a rotation.
  const steps = h("p");
  const keep = plain("Keep in the keyring", () => tell(model, { name: "keep" }));
  const revokeOld = plain("Revoke the old key", () => tell(model, { name: "ask_revoke", id: words().rotation.old }));
  const rotation = h("div", { class: "rb-sheet", hidden: true }, h("h3", {}, "The key is changed"), steps,
    h("div", { class: "rb-acts" }, keep, revokeOld, plain("Later", () => tell(model, { name: "finish" }))));

  // The question before a key is revoked.
  const ask = h("p", { id: freshId("ask") });
  const revoke = h("button", { type: "button", class: "rb-primary", onclick: () => tell(model, { name: "revoke", id: model.get("question").id }) }, "Revoke");
  const instead = filled("Rotate instead", () => { tell(model, { name: "leave" }); openForm("rotate"); });
  const leave = plain("Keep it", () => tell(model, { name: "leave" }));
  const question = h("div", { class: "rb-sheet rb-ask", role: "group", "aria-labelledby": ask.id, hidden: true },
    ask, h("div", { class: "rb-acts" }, instead, leave, revoke));
  question.addEventListener("keydown", (event) => { if (event.key === "Escape") tell(model, { name: "leave" }); });
  let askedFrom = "";

  frame.body.append(h("div", { class: "rb-frame rb-keys" },
    h("div", { class: "rb-acts rb-head" }, h("b", {}, "API keys"), badge, summary, refresh, change, make),
    frame.message, secretBox, rotation, question, form, empty, h("div", { class: "rb-list" }, table)));

  const row = (key) => h("tr", { class: key.state === "revoked" ? "rb-gone" : null },
    h("th", { scope: "row" }, key.name),
    h("td", { class: "rb-preview" }, key.preview),
    h("td", {}, key.limit),
    h("td", {}, h("span", { class: `rb-state rb-is-${key.state.replace(" ", "-")}` }, key.state)),
    h("td", { "data-word": "Created" }, key.created),
    h("td", { "data-word": "Last used" }, key.used, ...(key.stale ? [h("span", { class: "rb-stale" }, key.stale)] : [])),
    h("td", { class: "rb-act" }, ...(key.state === "revoked" ? [] : [h("button", {
      type: "button", class: "rb-plain", "data-id": key.id, "aria-label": `Revoke ${key.name}`,
      onclick: () => { askedFrom = key.id; tell(model, { name: "ask_revoke", id: key.id }); } }, "Revoke")])));
  frame.listen("msg:custom", (content) => {
    if (content.name === "secret") showSecret(content);
    if (content.name !== "rows") return;
    refill(rows, content.rows.map(row));
  });
  frame.draw(["words", "live"], () => {
    const now = words();
    badge.hidden = !now.sandbox;
    setText(summary, now.summary || "");
    for (const button of [refresh, go, keep, revokeOld, revoke]) button.disabled = Boolean(now.busy);
    ready();
    empty.hidden = Boolean(now.listed);
    table.hidden = !now.listed;
    const changed = now.rotation || {};
    rotation.hidden = !changed.text;
    setText(steps, changed.text || "");
    keep.hidden = !changed.can_keep;
    revokeOld.hidden = !changed.old;
  });
  frame.draw(["question"], () => {
    const asked = model.get("question") || {};
    const opens = question.hidden && asked.id;
    const closes = !question.hidden && !asked.id;
    question.hidden = !asked.id;
    setText(ask, asked.text || "");
    instead.hidden = !asked.own;
    revoke.className = asked.own ? "rb-plain" : "rb-primary";  // the next step is the one that stops nothing
    if (opens) { leave.focus(); frame.say(asked.text); }
    if (closes) ([...rows.querySelectorAll("button")].find((each) => each.dataset.id === askedFrom) || refresh).focus();
  });
  keepAsking(frame, model);
  return () => frame.close();
}

export default { render };
