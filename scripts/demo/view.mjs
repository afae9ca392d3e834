/** Returns the state that the terminal shows, which is computed from the processes' progress lines, and its renderer. */
export function createView(nodes) {
  const view = {
    version: null,
    accepted: 0,
    refused: 0,
    rewards: [],
    step: 0,
    tokens: 0,
    nodes: new Map(),
    started: performance.now(),
  }
  const render = () => {
    const seconds = (performance.now() - view.started) / 1000
    const recent = view.rewards.slice(-96)
    const mean = recent.length === 0 ? '  –  ' : (recent.reduce((a, b) => a + b, 0) / recent.length).toFixed(3)
    const versions = [...view.nodes.values()].map((version) => `v${version}`).join(' ')
    return [
      `round ${view.version ?? '–'}`,
      `groups ${view.accepted} accepted ${view.refused} refused`,
      `reward ${mean}`,
      `${Math.round(view.tokens / seconds)} tokens/s`,
      `trainer step ${view.step}`,
      `nodes ${versions || `0 of ${nodes}`}`,
      `${Math.round(seconds)} s`,
    ].join('  │  ')
  }
  return { view, render }
}
