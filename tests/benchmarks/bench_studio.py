"""An open Studio: what its kernel computes while nothing happens, and all messages for one clip made in it.

In a real JupyterLab. Messages are what the page and the kernel say to each other, the panels' own and
Jupyter's, without the clip itself, whose bytes are told apart.
`PYTHONPATH=tests python -m benchmarks.bench_studio`
"""

import psutil
from benchmarks.page import opened_notebook
from browser.lab import PLAYS, SETUP, shown, until

SECONDS = 60
LISTEN = """() => {
  window.heard = { messages: 0, text: 0, binary: 0 };
  const { kernel } = jupyterapp.shell.currentWidget.sessionContext.session;
  kernel.anyMessage.connect((_, { msg }) => {
    heard.messages += 1;
    const { buffers, ...rest } = msg;
    heard.text += new Blob([JSON.stringify(rest)]).size;
    for (const buffer of buffers ?? []) heard.binary += buffer.byteLength;
  });
}"""


def main() -> None:
    with opened_notebook() as notebook:
        page = notebook.page
        notebook.run(SETUP)
        kernel = psutil.Process(notebook.value("__import__('os').getpid()"))
        cell = notebook.run("session.sandbox.settings(pace=1)\nstudio = rb.Studio(session)\nstudio")
        form = shown(cell, ".rb-form")
        page.wait_for_timeout(5_000)
        used = -sum(kernel.cpu_times()[:2])
        page.wait_for_timeout(SECONDS * 1000)
        used += sum(kernel.cpu_times()[:2])
        page.evaluate(LISTEN)
        before = sum(kernel.cpu_times()[:2])
        form.get_by_label("Prompt").fill("a lighthouse in the fog")
        form.locator("button.rb-primary").first.click()
        until(shown(cell, ".rb-card"), PLAYS)
        page.wait_for_timeout(5_000)
        heard = page.evaluate("heard")
        busy = sum(kernel.cpu_times()[:2]) - before
    print(f"{100 * used / SECONDS:8.2f} % of a core: the kernel of an idle Studio (goal 0.5)")
    print(
        f"{heard['text'] / 1000:8.1f} kB in {heard['messages']} messages for one clip (goal 50), "
        f"beside {heard['binary'] / 1000:.0f} kB of clip and pictures; {busy:.2f} s of CPU"
    )


if __name__ == "__main__":
    main()
