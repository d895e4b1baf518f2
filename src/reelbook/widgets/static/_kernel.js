// Whether a panel's kernel is still there, as the front end tells: JupyterLab and Notebook do so at once.
const ENDS = ["restarting", "autorestarting", "terminating", "dead"];

/** What was noticed of kernels, by the name that their panels have for them; all panels of a page share it. */
const lost = (globalThis.reelbookLost ??= new Map());

/** Whether that panel's kernel has ended: one that was restarted since knows nothing of the panel. */
export function hasEnded(model) {
  return Boolean(lost.get(model.get("kernel"))?.ended);
}

/**
 * Calls `show` when the kernel is gone, and with null when it answers again after all.
 * @param {(lost: {at: Date, ended: boolean} | null) => void} show `ended`: it won't come back
 * @returns {() => void} ends it
 */
export function watchKernel(model, show) {
  const name = model.get("kernel");
  const notice = (ended) => {
    const before = lost.get(name);
    lost.set(name, { at: before?.at || new Date(), ended: ended || Boolean(before?.ended) });
    show(lost.get(name));
  };
  const back = () => {
    if (!lost.has(name) || hasEnded(model)) return;
    lost.delete(name);
    show(null);
  };
  const onStatus = (_, status) => ENDS.includes(status) && notice(true);
  const onConnection = (_, status) => (status === "connected" ? back() : notice(false));
  const onDisposed = () => notice(false);
  const manager = model.widget_manager;
  const kernel = manager?.kernel;
  const signals = [
    [kernel?.statusChanged, onStatus], [kernel?.connectionStatusChanged, onConnection], [kernel?.disposed, onDisposed],
  ];
  for (const [signal, slot] of signals) signal?.connect(slot);
  // The classic Notebook tells it by events.
  const events = manager?.comm_manager?.kernel?.events;
  const names = "kernel_restarting.Kernel kernel_autorestarting.Kernel kernel_killed.Kernel kernel_dead.Kernel";
  const onEvent = () => notice(true);
  events?.on(names, onEvent);
  if (hasEnded(model) || ENDS.includes(kernel?.status)) notice(true);
  else if (kernel === null || kernel?.isDisposed) notice(false);
  return () => {
    for (const [signal, slot] of signals) signal?.disconnect(slot);
    events?.off(names, onEvent);
  };
}
