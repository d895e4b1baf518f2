// The account's keys: a list, a form, a question before one is revoked, and a new key that is shown once.
import { input, labelled } from "./_account.js";
import { filledButton, focusedNode, freshId, h, plainButton, refill, setText, showText, tell } from "./_dom.js";
import { saveFile } from "./_fetch.js";
import { panel } from "./_live.js";
import { keepTyping } from "./_typed.js";

const COLUMNS = ["Name", "Key", "Limit", "State", "Created", "Last used"];

/**
 * What the kernel says. Only the message `secret` holds a key, and it is answered with `shown`.
 * @typedef {{summary: string, busy: boolean, listed: boolean, most: number, usual: number,
 *   limit: number, next: string, rotation: {text: string, can_keep: boolean, old: string}}} Words
 *   `most`, `usual`, `limit`: requests a minute of any key, a new one, the one in use; `next`: a name for its successor
 * @typedef {{id: string, name: string, preview: string, limit: string, state: string, created: string, used: string,
 *   stale: string, question: string}} Key `question`: what to know before it is revoked
 * @typedef {{id: string, called: string, key: string, text: string, seconds: number}} NewKey
 *   `seconds`: how long it is shown
 */

export default panel("key_manager", "API keys", (frame, model) => {
  /** @returns {Partial<Words>} */
  const words = () => model.get("words") || {};
  const summary = h("span", { class: "rb-quiet rb-sum" });
  const refresh = plainButton("Refresh", () => tell(model, { name: "refresh" }));
  const make = plainButton("New key", () => openForm("create"));
  const change = plainButton("Rotate", () => openForm("rotate"));
  const rows = h("tbody");
  const heads = COLUMNS.map((word) => h("th", { scope: "col" }, word));
  const lastHead = h("th", {}, h("span", { class: "rb-hidden" }, "Revoke"));
  const table = h("table", {}, h("thead", {}, h("tr", {}, ...heads, lastHead)), rows);
  const empty = h("p", { class: "rb-quiet" }, "The keys are listed here.");

  // The form for a new key, or for one that replaces the key in use.
  const title = h("h3");
  const about = h("p", { class: "rb-quiet" });
  const called = input("text");
  const limit = input("number", { min: 1, inputmode: "numeric" });
  const [nameField, limitField] = [labelled(called, "Name"), labelled(limit, "Requests a minute")];
  const go = filledButton("Create key", () => send());
  const form = h("div", { class: "rb-sheet", hidden: true }, title, about,
    h("div", { class: "rb-pair" }, nameField.node, limitField.node),
    h("div", { class: "rb-acts" }, go, plainButton("Cancel", () => closeForm())));
  let kind = "create";
  let opener = null;
  const openForm = (which) => {
    kind = which;
    opener = which === "create" ? make : change;
    const rotating = which === "rotate";
    setText(title, rotating ? "Rotate the key in use" : "New key");
    setText(about, rotating
      ? "A new key is created and tried with one request. Then this session uses it; clips under way go on. "
        + "The old key works until you revoke it, as the last step."
      : "It is shown once, when it is created. One key for each person or machine can be revoked alone.");
    setText(go, rotating ? "Create, try and use it" : "Create key");
    called.value = rotating ? words().next : "";
    limit.max = words().most;
    limit.value = rotating ? words().limit : words().usual;
    for (const each of [nameField, limitField]) each.show("");
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
    nameField.show(named ? "" : "A key needs a name, so that you recognise it in the list.");
    limitField.show(limited ? "" : `The limit is a whole number from 1 to ${words().most}.`);
    if (!named || !limited) return (named ? limit : called).focus();
    tell(model, { name: kind, called: called.value.trim(), limit: number });
    closeForm();
  };
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") closeForm();
    if (event.key !== "Enter" || event.target.tagName !== "INPUT") return;
    event.preventDefault();
    send();
  });

  keepTyping(frame, () => !form.hidden && [kind, called.value, limit.value], (typed) => {
    if (!typed) return;
    openForm(typed[0]);
    [, called.value, limit.value] = typed;
  });

  // The new key: only in this page, until it is put away or its time is over.
  const secretText = h("p");
  const secret = input("text", { readonly: true, "aria-label": "The new key" });
  const left = h("span", { class: "rb-quiet" });
  const copied = h("span", { class: "rb-quiet" });
  const copy = filledButton("Copy", async () => {
    try {
      await navigator.clipboard.writeText(secret.value);
      setText(copied, "Copied.");
    } catch {
      secret.select();
      setText(copied, "Select it and press Ctrl+C.");
    }
    frame.say(copied.textContent);
  });
  const download = plainButton("Download", () => {
    const name = secretName.replace(/[^\p{L}\p{N}._-]+/gu, "-") || "key";
    saveFile(new Blob([`${secret.value}\n`], { type: "text/plain" }), `${name}.txt`);
  });
  const done = plainButton("Done", () => {
    document.dispatchEvent(new CustomEvent("reelbook-key-seen", { detail: secretId })); // by all views of the panel
    make.focus();
  });
  const secretBox = h("div", { class: "rb-sheet rb-secret", hidden: true }, secretText, secret,
    h("div", { class: "rb-acts" }, copy, download, done, copied, left));
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
  /** @param {NewKey} content */
  const showSecret = (content) => {
    tell(model, { name: "shown", key_id: content.id });
    if (secretId === content.id) return; // once
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
    // In the view where it was asked for, unless the person is elsewhere by now.
    if (frame.root.contains(focusedNode())) copy.focus();
    frame.say("The new key is shown. Copy or download it now.");
  };
  const seen = ({ detail }) => detail === secretId && forget();
  document.addEventListener("reelbook-key-seen", seen);
  frame.onClose(() => document.removeEventListener("reelbook-key-seen", seen));
  frame.onClose(forget);

  // What is left to do in a rotation.
  const steps = h("p");
  const keep = plainButton("Keep in the keyring", () => tell(model, { name: "keep" }));
  const revokeOld = plainButton("Revoke the old key", () => {
    const old = listed.find(({ id }) => id === words().rotation.old);
    if (old) askRevoke(old);
  });
  const later = plainButton("Later", () => tell(model, { name: "finish" }));
  const rotation = h("div", { class: "rb-sheet", hidden: true }, h("h3", {}, "The key is rotated"), steps,
    h("div", { class: "rb-acts" }, keep, revokeOld, later));

  // The question before a key is revoked. Escape leaves the key as it is.
  /** @type {Key[]} */
  let listed = [];
  let asked = null;
  /** @param {Key} key */
  const drawQuestion = (key) => {
    asked = key;
    const own = key.state === "in use";
    instead.hidden = !own;
    revoke.className = own ? "rb-plain" : "rb-primary"; // the next step is the one that stops nothing
    setText(questionText, key.question);
  };
  /** @param {Key} key */
  const askRevoke = (key) => {
    drawQuestion(key);
    question.hidden = false;
    leave.focus();
    frame.say(key.question);
  };
  const closeQuestion = () => {
    const had = question.contains(focusedNode());
    question.hidden = true;
    if (had) ([...rows.querySelectorAll("button")].find(({ dataset }) => dataset.id === asked.id) || refresh).focus();
  };
  const instead = filledButton("Rotate instead", () => {
    closeQuestion();
    openForm("rotate");
  });
  const leave = plainButton("Keep it", closeQuestion);
  const revoke = filledButton("Revoke", () => {
    closeQuestion();
    tell(model, { name: "revoke", key_id: asked.id });
  });
  const questionText = h("p", { id: freshId("asked") });
  const onkeydown = (event) => event.key === "Escape" && closeQuestion();
  const grouped = { role: "group", "aria-labelledby": questionText.id, hidden: true, onkeydown };
  const question = h("div", { class: "rb-sheet rb-ask", ...grouped },
    questionText, h("div", { class: "rb-acts" }, instead, leave, revoke));

  frame.body.append(h("div", { class: "rb-frame rb-keys" },
    h("div", { class: "rb-acts rb-head" }, h("b", {}, "API keys"), frame.badge, summary, refresh, change, make),
    frame.message, secretBox, rotation, question, form, empty, h("div", { class: "rb-list" }, table)));

  /** @param {Key} key */
  const row = (key) => {
    const revoked = key.state === "revoked";
    const stale = key.stale ? [h("span", { class: "rb-stale" }, key.stale)] : [];
    const named = { "data-id": key.id, "aria-label": `Revoke ${key.name}` };
    const end = plainButton("Revoke", () => askRevoke(key), named);
    return h("tr", { class: revoked ? "rb-gone" : null },
      h("th", { scope: "row" }, key.name),
      h("td", { class: "rb-preview" }, key.preview),
      h("td", {}, key.limit),
      h("td", {}, h("span", { class: `rb-state rb-is-${key.state.replaceAll(" ", "-")}` }, key.state)),
      h("td", { "data-word": "Created" }, key.created),
      h("td", { "data-word": "Last used" }, key.used, ...stale),
      h("td", { class: "rb-act" }, ...(revoked ? [] : [end])));
  };
  frame.listen("msg:custom", (content) => {
    if (content.name === "secret") showSecret(content);
    if (content.name !== "rows") return;
    listed = content.rows;
    refill(rows, listed.map(row));
    if (question.hidden) return;
    const now = listed.find(({ id, state }) => id === asked.id && state !== "revoked");
    if (now) drawQuestion(now);
    else closeQuestion();
  });
  frame.draw(["words", "live"], () => {
    const now = words();
    setText(summary, now.summary || "");
    for (const button of [refresh, go, keep, revokeOld, revoke]) button.disabled = Boolean(now.busy);
    ready();
    empty.hidden = Boolean(now.listed);
    table.hidden = !now.listed;
    const changed = now.rotation || {};
    showText(steps, changed.text);
    rotation.hidden = steps.hidden;
    keep.hidden = !changed.can_keep;
    revokeOld.hidden = !changed.old;
  });
});
