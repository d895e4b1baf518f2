// An extension of JupyterLab in one file, without a build: where a panel's kernel is gone, its still form is shown,
// and where the notebook isn't trusted, a line above it says how to bring the panel back. It opens a Studio in a tab.
// JupyterLab draws a widget whose model it doesn't find as this text, although the output has HTML beside it.
const LOST = "Error displaying widget: model not found";
const VIEW = "application/vnd.jupyter.widget-view+json";
const OURS = '<div class="mathjax_ignore tex2jax_ignore">';

/** The notebook and the output that `node` is drawn for, if a panel is saved in it. */
function outputOf(app, node) {
  for (const main of app.shell.widgets("main")) {
    for (const cell of main.content?.widgets ?? []) {
      const area = cell.outputArea;
      const place = area?.widgets.findIndex((output) => output.node.contains(node)) ?? -1;
      const output = place < 0 ? null : area.model.get(place);
      if (output?.data["text/html"]) return { main, output };
    }
  }
  return null;
}

async function showStill(app, node) {
  const found = outputOf(app, node);
  if (!found) return;
  const still = found.main.content.rendermime.createRenderer("text/html");
  await still.renderModel(found.output);
  if (node.textContent === LOST) node.replaceChildren(still.node);
}

function offerTrust(app, node) {
  if (node.querySelector(".reelbook-untrusted")) return;
  const { main, output } = outputOf(app, node) ?? {};
  const still = String(output?.data["text/html"]);
  if (!output || output.trusted || !output.data[VIEW] || !still.startsWith(OURS)) return;
  const line = document.createElement("div");
  line.className = "reelbook-untrusted";
  // A still form that is only text says it itself.
  if (!still.includes("jupyter trust")) {
    line.append("This notebook isn't trusted, so the panel is shown as it was saved. If its kernel still runs, it "
      + `returns once you trust the notebook, here or with jupyter trust ${main.context.localPath}. `);
  }
  line.append(Object.assign(document.createElement("button"), {
    type: "button",
    textContent: "Trust Notebook",
    onclick: () => app.commands.execute("notebook:trust"),
  }));
  node.prepend(line);
}

/** Opens the cell that `node` is in as a tab beside its notebook, as large as the window. */
async function openInTab(app, node) {
  const shell = app.shell;
  const main = [...shell.widgets("main")].find((each) => each.node.contains(node));
  const place = main?.content?.widgets?.findIndex((cell) => cell.node.contains(node)) ?? -1;
  if (place < 0) return;
  shell.activateById(main.id);
  main.content.activeCellIndex = place;
  const views = () => ["main", "down"].flatMap((area) => [...shell.widgets(area)]);
  const before = new Set(views());
  app.commands.execute("notebook:create-output-view");
  // It is there a little later, in the lower half of the window.
  for (let looks = 0; looks < 40; looks += 1) {
    const opened = views().find((each) => !before.has(each));
    if (opened) {
      opened.title.label = "Reelbook";
      shell.add(opened, "main", { mode: "tab-after", ref: main.id });
      return shell.activateById(opened.id);
    }
    await new Promise((done) => setTimeout(done, 50));
  }
}

const plugin = {
  id: "reelbook:stills",
  description: "Shows a panel's still form where its kernel is gone, and how it returns to an untrusted notebook.",
  autoStart: true,
  activate(app) {
    globalThis.reelbookOpenInTab = (node) => openInTab(app, node);
    new MutationObserver((records) => {
      for (const { target, addedNodes } of records) {
        for (const added of addedNodes) {
          if (added.data === LOST) showStill(app, target);
          for (const html of added.querySelectorAll?.(".jp-RenderedHTML") ?? []) offerTrust(app, html);
        }
        if (addedNodes.length && target.classList?.contains("jp-RenderedHTML")) offerTrust(app, target);
      }
    }).observe(document.body, { childList: true, subtree: true });
  },
};

// What JupyterLab asks of a federated extension: webpack's container, by hand.
(window._JUPYTERLAB ??= {}).reelbook = {
  init() {},
  get: async () => () => ({ __esModule: true, default: plugin }),
};
