// A placeholder with one line and one button.
import { filledButton, h, openPanel, setText, tell } from "./_dom.js";

function render({ model, el }) {
  const frame = openPanel(model, el, "hint", "Nothing here yet");
  const text = h("p", { class: "rb-quiet" });
  const button = filledButton("", () => tell(model, { name: "press" }));
  frame.body.append(h("div", { class: "rb-nothing" }, text, button));
  frame.draw(["text"], () => setText(text, model.get("text")));
  frame.draw(["button"], () => setText(button, model.get("button")));
  return () => frame.close();
}

export default { render };
