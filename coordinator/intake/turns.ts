/** Does so many pieces of work at a time. @param reliable  it is a node's that is known to deliver: it goes before all others */
export type Turns = <T>(reliable: boolean, work: () => Promise<T>) => Promise<T>

/**
 * Two lines before the same desks. New keys cost nothing, so however many groups they hand in, who is known to deliver waits for no
 * more than those that are being worked on. How long the lines get is bounded by who takes groups in (`InHand`).
 */
export function createTurns(atOnce: number): Turns {
  const reliables: (() => Promise<void>)[] = []
  const others: (() => Promise<void>)[] = []
  let busy = 0

  const serve = async (): Promise<void> => {
    if (busy >= atOnce) return
    busy += 1
    for (let next = reliables.shift() ?? others.shift(); next; next = reliables.shift() ?? others.shift()) await next()
    busy -= 1
  }

  return (reliable, work) =>
    new Promise((resolve, reject) => {
      const line = reliable ? reliables : others
      line.push(() => work().then(resolve, reject))
      void serve()
    })
}
