// Buttons; one that costs a lot asks first.
import { isNew, refill, restButton } from "./_dom.js";

/**
 * Draws these buttons unless `box` has them already. One with an answer, such as "Yes, buy", asks first: the answer and
 * "No" take the place of all.
 * @param {Array<[string, string, string?]>} buttons name, text, answer
 * @param {(name: string, text: string, act: () => void, place: number) => Node} made
 * @param {(name: string, answer?: string) => void} press the answer is that of a button that asked
 * @param {HTMLElement} [instead] as in `refill`
 */
export function askingButtons(box, buttons, made, press, instead) {
  const draw = (shown, asked) => {
    refill(box, shown.map(([name, text, answer], place) => made(name, text, () => {
      if (answer) draw([[name, answer], ["no", "No"]], answer);
      else if (name === "no") draw(buttons);
      else press(name, asked);
    }, place)), instead);
    if (asked) restButton(box.firstElementChild);
  };
  if (isNew(box, buttons)) draw(buttons);
}
