/** Rewards that the shown mean is over. */
const RECENT = 96

/**
 * Creates the view of a run: a line that the terminal keeps up to date, and a line of output per version and per refusal.
 * @param nodes  number of volunteers
 * @param say    prints a line
 * @param show   shows the changing line
 * @param more       returns what the changing line ends with
 * @param onVersion  receives the number of each published version
 */
export function createView(nodes, { say, show, more = () => [], onVersion = () => {} }) {
  const groups = { accepted: 0, refused: 0 }
  const versions = new Map()
  let rewards = []
  let [version, step, tokens] = ['–', 0, 0]
  const started = performance.now()
  const seconds = () => (performance.now() - started) / 1000
  const render = () => {
    const mean = rewards.length === 0 ? '  –  ' : (rewards.reduce((a, b) => a + b, 0) / rewards.length).toFixed(3)
    return [
      `round ${version}`,
      `groups ${groups.accepted} accepted ${groups.refused} refused`,
      `reward ${mean}`,
      `${Math.round(tokens / seconds())} tokens/s`,
      `trainer step ${step}`,
      `nodes ${[...versions.values()].map((held) => `v${held}`).join(' ') || `0 of ${nodes}`}`,
      `${Math.round(seconds())} s`,
      ...more(),
    ].join('  │  ')
  }
  const ticker = setInterval(() => show(render()), 250)
  return {
    say,
    groups,
    seconds,
    render,
    close: () => clearInterval(ticker),
    /** Notes an event of the coordinator's log, see docs/reference/events.md. */
    event(event) {
      if (event.type === 'published') {
        ;[version, step] = [event.version, event.step]
        onVersion(version)
        say(`version ${String(version).padStart(3)} published  ${render()}`)
      }
      if (event.type !== 'judged') return
      groups[event.accepted ? 'accepted' : 'refused'] += 1
      if (event.accepted) rewards = [...rewards, ...event.rewards].slice(-RECENT)
      else say(`refused: ${event.code} ${event.detail}`)
    },
    /** Notes the progress of a volunteer. */
    node(name, progress) {
      if (progress.type === 'policy') versions.set(name, progress.version)
      if (progress.type === 'group') tokens += progress.tokens
    },
  }
}
