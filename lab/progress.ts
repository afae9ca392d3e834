/** Creates a progress reporter that prints at most one line per two seconds to stderr, and the last line. @param what  counted things, in the plural */
export function createProgress(what: string): (done: number, wanted: number) => void {
  const begun = performance.now()
  let last = Number.NEGATIVE_INFINITY
  let from: number | undefined
  return (done, wanted) => {
    from ??= done
    const now = performance.now()
    if (done < wanted && now - last < 2000) return
    last = now
    const left = done > from ? `, ${spanOf(((now - begun) * (wanted - done)) / (done - from))} left` : ''
    process.stderr.write(`${done} of ${wanted} ${what}${left}\n`)
  }
}

/** Formats a duration: `95 s`, `12 min`, `3 h 20 min`. @param ms  milliseconds */
export function spanOf(ms: number): string {
  const seconds = Math.ceil(ms / 1000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
