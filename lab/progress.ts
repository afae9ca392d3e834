/** Lines for whoever waits, on stderr: at most one per two seconds, and the last. @param what  is counted, in the plural */
export function createProgress(what: string): (done: number, wanted: number) => void {
  const begun = performance.now()
  let last = Number.NEGATIVE_INFINITY
  let from: number | undefined
  return (done, wanted) => {
    from ??= done
    const now = performance.now()
    if (done < wanted && now - last < 2000) return
    last = now
    const left = done > from ? `, ${Math.ceil(((now - begun) * (wanted - done)) / (done - from) / 1000)} s left` : ''
    process.stderr.write(`${done} of ${wanted} ${what}${left}\n`)
  }
}
