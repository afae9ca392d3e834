/**
 * Creates an estimate of the time left in work of several phases.
 * @param planned  seconds of each phase on two idle cores, in order
 * @param now      clock in seconds
 */
export function createTimeLeft(planned, now = () => performance.now() / 1000) {
  const names = Object.keys(planned)
  const begun = now()
  let current = 0
  let share = 0
  /** Planned seconds of the work that is done. */
  const doneOf = () =>
    names.slice(0, current).reduce((sum, name) => sum + planned[name], 0) + share * planned[names[current]]
  const total = names.reduce((sum, name) => sum + planned[name], 0)
  return {
    /** Notes the progress. @param phase  its name @param done  share of it that is done, from 0 to 1 */
    note(phase, done = 0) {
      current = names.indexOf(phase)
      share = done
    },
    /** Returns the minutes left as text: the plan for the rest, at the speed so far. The first minute does not count as a measurement. */
    text() {
      const [elapsed, done] = [now() - begun, doneOf()]
      const pace = elapsed < 60 || done === 0 ? 1 : elapsed / done
      return `about ${Math.max(1, Math.ceil(((total - done) * pace) / 60))} min left`
    },
  }
}
