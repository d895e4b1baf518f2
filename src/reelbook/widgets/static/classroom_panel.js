// The class that is served from this home: where it is joined, who has, the queue, the money and the newest clips.
import { h, setText } from "./_dom.js";
import { panel } from "./_live.js";

const NONE = "No class is served from this home. To serve one, on a terminal: ";

/**
 * What the kernel sends; none has a key or a token in it.
 * @typedef {{name: string, figures: string, where: string, joined: string, clips: string[]}} Served
 */

export default panel("classroom_panel", "Classroom", (frame, model) => {
  const name = h("b", {}, "Classroom");
  const figures = h("span", { class: "rb-quiet rb-sum" });
  const rest = h("div", { class: "rb-rest" });
  frame.body.append(h("div", { class: "rb-frame rb-class" }, h("div", { class: "rb-acts" }, name, figures),
    frame.message, rest));
  /** @param {{room: Served | null}} content */
  const draw = ({ room }) => {
    setText(name, room ? room.name : "Classroom");
    setText(figures, room ? room.figures : "");
    if (!room) {
      rest.replaceChildren(h("p", { class: "rb-quiet" }, NONE, h("code", {}, "reelbook classroom serve")));
      return;
    }
    rest.replaceChildren(
      h("p", {}, room.where),
      ...(room.joined ? [h("p", { class: "rb-quiet" }, `Joined: ${room.joined}`)] : []),
      ...(room.clips.length ? [h("ul", {}, ...room.clips.map((clip) => h("li", {}, clip)))] : []));
  };
  frame.listen("msg:custom", (content) => content.name === "served" && draw(content));
});
