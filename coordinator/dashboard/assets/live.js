// Replaces the live parts of a page when the report has a new revision. Without this script, the page does not change.
const main = document.querySelector('main[data-revision]')
const connection = document.querySelector('#connection')

/** Returns the new version of a part, with the same details open. */
function freshOf(part, next) {
  const fresh = next.getElementById(part.id)
  for (const details of part.querySelectorAll('details[id][open]'))
    fresh?.querySelector(`#${CSS.escape(details.id)}`)?.setAttribute('open', '')
  return fresh
}

/** Notes the focus in a part. @returns  a function that finds it in another part: a link by its target, other elements by position */
function placeOf(part) {
  const active = document.activeElement
  if (!active || !part.contains(active)) return () => null
  const href = active.getAttribute('href')
  const kind = active.tagName
  const index = [...part.querySelectorAll(kind)].indexOf(active)
  return (fresh) =>
    href === null ? fresh.querySelectorAll(kind)[index] : fresh.querySelector(`a[href="${CSS.escape(href)}"]`)
}

async function refresh() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' }, cache: 'no-store' })
  // The session has ended.
  if (new URL(response.url).pathname === '/login') return location.assign('/login')
  if (!response.ok) return
  const next = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const part of document.querySelectorAll('[data-live]')) {
    const fresh = freshOf(part, next)
    if (!fresh || fresh.outerHTML === part.outerHTML) continue
    const again = placeOf(part)
    const imported = document.importNode(fresh, true)
    part.replaceWith(imported)
    again(imported)?.focus({ preventScroll: true })
  }
  main.dataset.revision = next.querySelector('main').dataset.revision
}

if (main) {
  let wanted = main.dataset.revision
  let isBusy = false
  const update = async () => {
    if (isBusy || document.hidden) return
    isBusy = true
    try {
      while (wanted !== main.dataset.revision && !document.hidden) {
        const before = main.dataset.revision
        await refresh()
        // The page shows the announced revision, or the server could not be reached.
        if (main.dataset.revision === before || Number(main.dataset.revision) >= Number(wanted)) break
      }
    } catch {
      // The coordinator cannot be reached. The stream reports when it can.
    } finally {
      isBusy = false
    }
  }
  const show = (state, words) => {
    connection.dataset.state = state
    connection.textContent = words
  }
  const stream = new EventSource('/live')
  stream.addEventListener('open', () => show('live', 'Live'))
  stream.addEventListener('error', () => show('lost', 'Connection lost'))
  stream.addEventListener('message', ({ data }) => {
    wanted = data
    update()
  })
  document.addEventListener('visibilitychange', update)
}
