// A placeholder with one line and one button.
import { filledButton, h, setText, tell } from "./_dom.js";
import { panel } from "./_live.js";

export default panel("hint", "Nothing here yet", (frame, model) => {
  const text = h("p", { class: "rb-quiet" });
  const button = filledButton("", () => tell(model, { name: "press" }));
  frame.body.append(h("div", { class: "rb-nothing" }, text, button));
  frame.draw(["text"], () => setText(text, model.get("text")));
  frame.draw(["button"], () => setText(button, model.get("button")));
});
