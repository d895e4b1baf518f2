// A card that a person opened in a panel of many.

/** Brings an opened card into view once it has its size; where it is too large, its clip. It jumps: some people want less motion. */
export function bringIntoView(box) {
  requestAnimationFrame(() => {
    for (const part of [box, box.querySelector(".rb-stage")]) part.scrollIntoView({ block: "nearest", behavior: "instant" });
  });
}
