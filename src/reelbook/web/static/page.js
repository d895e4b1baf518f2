// Keeps a page fresh, and says what a clip costs while it is chosen. Without it, all works by
// forms and by loading the page again.

const REFRESH_MS = 2500
/** What each part of the page was made of: a part that stays the same isn't touched, so that a clip plays on. */
const sources = new Map()

/** @param {Element} parent */
function remember(parent) {
  for (const part of parent.querySelectorAll("[data-live], [data-live] > [id]")) sources.set(part.id, part.outerHTML)
}

/** @param {Element} part @param {Element} fresh */
function renew(part, fresh) {
  if (sources.get(part.id) === fresh.outerHTML || part.contains(document.activeElement) && !part.dataset.list) return
  sources.set(part.id, fresh.outerHTML)
  if (part.dataset.list === undefined) return part.replaceWith(fresh)
  let place = part.firstElementChild
  for (const child of [...fresh.children]) {
    const kept = document.getElementById(child.id)
    const same = kept && (sources.get(child.id) === child.outerHTML || kept.contains(document.activeElement))
    if (same && kept === place) { place = place.nextElementSibling; continue }
    if (!same) sources.set(child.id, child.outerHTML)
    if (kept && kept === place) place = place.nextElementSibling
    if (kept && !same) kept.remove()
    part.insertBefore(same ? kept : child, place)
  }
  while (place) { const next = place.nextElementSibling; place.remove(); place = next }
}

async function refresh() {
  if (document.hidden) return
  try {
    // What a form answered with stands at the form's address, which can't be asked again.
    const answer = await fetch(document.querySelector("[data-refresh]").dataset.refresh, { credentials: "same-origin" })
    if (!answer.ok) return
    const page = new DOMParser().parseFromString(await answer.text(), "text/html")
    const parts = [...document.querySelectorAll("[data-live]")]
    if (parts.length && !page.querySelector("[data-live]")) return location.assign(answer.url) // it has ended, or the name was released
    for (const part of parts) {
      const fresh = page.getElementById(part.id)
      if (fresh) renew(part, document.importNode(fresh, true))
    }
  } catch { /* the server is away: what is shown stays, and it is asked again */ }
}

/** @param {HTMLFormElement} form */
function price(form) {
  const seconds = form.querySelector("[name=duration_seconds]")
  const tell = () => {
    const cost = seconds.value * Number(form.dataset.price)
    form.querySelector("[data-seconds]").textContent = `${seconds.value} s`
    form.querySelector("[data-cost]").textContent = `Generate · $${cost.toFixed(2)}`
    const left = Number(document.querySelector("[data-left]")?.dataset.left ?? 0) - cost
    form.querySelector("[data-sum]").textContent =
      left < -0.001 ? "More than is left of your money." : `${seconds.value} s × $${Number(form.dataset.price).toFixed(2)} · leaves $${left.toFixed(2)}`
  }
  seconds.addEventListener("input", tell)
  tell()
  form.addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
}

remember(document)
for (const form of document.querySelectorAll("form[data-price]")) price(form)
if (document.querySelector("[data-refresh]")) setInterval(refresh, REFRESH_MS)
