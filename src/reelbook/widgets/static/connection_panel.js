// The connection: which service is used, where its key comes from, and a field for another key, which is never kept.
import { input } from "./_account.js";
import { filledButton, freshId, h, plainButton, setText, tell } from "./_dom.js";
import { panel } from "./_live.js";
import { fieldProblem } from "./_problem.js";
import { keepTyping } from "./_typed.js";

/**
 * What the kernel says of the connection; never a key.
 * @typedef {{title: string, about: string, key: string, keep: string, disk: string, address: string,
 *   can_keep: boolean}} Words `key`: where it comes from
 */

export default panel("connection_panel", "Connection", (frame, model) => {
  /** @returns {Partial<Words>} */
  const words = () => model.get("words");
  const title = h("b");
  const about = h("p", { class: "rb-quiet" });
  const source = h("p");
  const test = plainButton("Test", () => tell(model, { name: "test" }));
  const sandbox = plainButton("Use the sandbox", () => tell(model, { name: "sandbox" }));
  const key = input("password", { id: freshId("key") });
  const address = input("url", { id: freshId("address"), placeholder: "https://…" });
  const keep = h("input", { id: freshId("keep"), type: "checkbox" });
  const keepLine = h("label", { class: "rb-keep", for: keep.id }, keep, " Keep it in this system's keyring");
  const hint = h("p", { class: "rb-quiet" });
  const disk = h("p", { class: "rb-quiet rb-disk" });
  const use = filledButton("Test and use", () => send());
  const needed = [[address, "Type the service's address, such as https://host."], [key, "Paste a key here."]];
  const missing = needed.map(([field, text]) => {
    const { node, show } = fieldProblem(field);
    const check = () => {
      const empty = !field.value.trim();
      show(empty ? text : "");
      return empty;
    };
    field.addEventListener("input", () => node.hidden || check());
    return { field, node, check };
  });
  const [noAddress, noKey] = missing;
  const send = () => {
    const empty = missing.filter((one) => one.check());
    if (empty.length) return empty[0].field.focus();
    // Sent once and cleared: neither the page nor the notebook keeps it.
    tell(model, { name: "use", key: key.value, address: address.value, keep: keep.checked });
    key.value = "";
    keep.checked = false;
  };
  key.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    send();
  });
  keepTyping(frame, () => [key.value, address.value, keep.checked], (typed) => {
    [key.value, address.value, keep.checked] = typed;
  });
  frame.onClose(() => { key.value = ""; });
  frame.body.append(h("div", { class: "rb-frame rb-connection" },
    h("div", { class: "rb-acts" }, title, frame.badge), about, source,
    h("div", { class: "rb-acts" }, test, sandbox), frame.message, disk,
    h("h3", {}, "Another key"),
    h("div", { class: "rb-fields" },
      h("label", { class: "rb-label", for: address.id }, "Address of the service"), address, noAddress.node,
      h("label", { class: "rb-label", for: key.id }, "API key"), key, noKey.node),
    keepLine, hint, h("div", { class: "rb-acts" }, use)));
  frame.draw(["words", "mark", "live"], () => {
    const now = words();
    setText(title, now.title || "");
    sandbox.hidden = Boolean(model.get("mark"));
    setText(about, now.about || "");
    setText(source, now.key || "");
    setText(hint, now.keep || "");
    setText(disk, now.disk || "");
    keepLine.hidden = !now.can_keep;
    if (!address.value && now.address) address.value = now.address;
    const busy = model.get("live");
    for (const button of [test, use]) button.disabled = busy;
    setText(test, busy ? "Testing" : "Test");
  });
});
