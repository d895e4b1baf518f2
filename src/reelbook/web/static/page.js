// Keeps a page fresh, and says what a clip costs while it is chosen. Without it, all works by
// forms and by loading the page again.

const REFRESH_MS = 2500
const ANSWER_MS = 10000
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

/** Says that the server is away: the rest of the page stays as it was. */
const away = document.createElement("p")
away.className = "say away"
away.setAttribute("role", "status")
let answered = new Date()

async function refresh() {
  if (document.hidden) return
  try {
    // The answer to a form is shown at the form's address, which can't be fetched again.
    const address = document.querySelector("[data-refresh]").dataset.refresh
    const answer = await fetch(address, { credentials: "same-origin", signal: AbortSignal.timeout(ANSWER_MS) })
    answered = new Date()
    away.textContent = ""
    if (!answer.ok) return
    const page = new DOMParser().parseFromString(await answer.text(), "text/html")
    const parts = [...document.querySelectorAll("[data-live]")]
    if (parts.some(part => !page.getElementById(part.id))) return location.assign(answer.url) // it has ended, or the name was released
    for (const part of parts) renew(part, document.importNode(page.getElementById(part.id), true))
    forms.forEach(price)
  } catch {
    if (Date.now() - answered < 3 * REFRESH_MS) return // a page that is being left gets no answer either
    const since = answered.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false })
    away.textContent = `No answer since ${since}. What is shown here may have changed.`
  }
}

/** @param {HTMLFormElement} form */
function price(form) {
  const seconds = form.querySelector("[name=duration_seconds]").value
  const each = Number(form.dataset.price)
  const left = Number(document.querySelector("[data-left]").dataset.left) - seconds * each
  form.querySelector("[data-seconds]").textContent = `${seconds} s`
  form.querySelector("[data-cost]").textContent = `Generate · $${(seconds * each).toFixed(2)}`
  form.querySelector("[data-sum]").textContent =
    left < -0.001 ? "More than is left of your money." : `${seconds} s × $${each.toFixed(2)} · leaves $${left.toFixed(2)}`
}

remember(document)
const forms = [...document.querySelectorAll("form[data-price]")]
for (const form of forms) {
  price(form)
  form.addEventListener("input", () => price(form))
  form.addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
}
if (document.querySelector("[data-refresh]")) {
  document.body.append(away)
  setInterval(refresh, REFRESH_MS)
}
