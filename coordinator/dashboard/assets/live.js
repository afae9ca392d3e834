// Puts the parts of a page anew when the run has moved on. Without it, the page is as it was when it was loaded.
const main = document.querySelector('main[data-revision]')
const connection = document.querySelector('#connection')

/** The same part as the server has it now, opened where this one is. */
function freshOf(part, next) {
  const fresh = next.getElementById(part.id)
  for (const details of part.querySelectorAll('details[id][open]'))
    fresh?.querySelector(`#${CSS.escape(details.id)}`)?.setAttribute('open', '')
  return fresh
}

/** Where somebody is within a part, to be found again in another: a link by where it leads, anything else by its place. */
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
  // Logged out meanwhile.
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
  const catchUp = async () => {
    if (isBusy || document.hidden) return
    isBusy = true
    try {
      while (wanted !== main.dataset.revision && !document.hidden) {
        const before = main.dataset.revision
        await refresh()
        // The page shows no less than was told of, or nothing can be had now.
        if (main.dataset.revision === before || Number(main.dataset.revision) >= Number(wanted)) break
      }
    } catch {
      // The coordinator is gone for now; the stream says when it is back.
    } finally {
      isBusy = false
    }
  }
  const say = (state, words) => {
    connection.dataset.state = state
    connection.textContent = words
  }
  const stream = new EventSource('/live')
  stream.addEventListener('open', () => say('live', 'Live'))
  stream.addEventListener('error', () => say('lost', 'Connection lost'))
  stream.addEventListener('message', ({ data }) => {
    wanted = data
    catchUp()
  })
  document.addEventListener('visibilitychange', catchUp)
}
