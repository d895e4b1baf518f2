// An extension of JupyterLab in one file, without a build: where a panel's kernel is gone, its still form is shown.
// JupyterLab draws a widget whose model it doesn't find as this text, although the output has HTML beside it.
const LOST = "Error displaying widget: model not found";

async function showStill(app, node) {
  for (const main of app.shell.widgets("main")) {
    for (const cell of main.content?.widgets ?? []) {
      const area = cell.outputArea;
      const place = area?.widgets.findIndex((output) => output.node.contains(node)) ?? -1;
      const output = place < 0 ? null : area.model.get(place);
      if (!output?.data["text/html"]) continue;
      const still = main.content.rendermime.createRenderer("text/html");
      await still.renderModel(output);
      if (node.textContent === LOST) node.replaceChildren(still.node);
    }
  }
}

const plugin = {
  id: "reelbook:stills",
  description: "Shows a panel's still form where its kernel is gone.",
  autoStart: true,
  activate(app) {
    new MutationObserver((records) => {
      for (const { target, addedNodes } of records) {
        if ([...addedNodes].some((added) => added.data === LOST)) showStill(app, target);
      }
    }).observe(document.body, { childList: true, subtree: true });
  },
};

// What JupyterLab asks of a federated extension: webpack's container, by hand.
(window._JUPYTERLAB ??= {}).reelbook = {
  init() {},
  get: async () => () => ({ __esModule: true, default: plugin }),
};
