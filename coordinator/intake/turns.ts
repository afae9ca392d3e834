/** Runs a limited number of tasks at a time. @param reliable  whether the task belongs to a proven node, whose tasks come first */
export type Turns = <T>(reliable: boolean, work: () => Promise<T>) => Promise<T>

/**
 * Creates a scheduler with two queues. Keys are free to create, so however many groups new keys deliver, tasks of proven nodes only wait
 * for tasks in progress. `InProgress` bounds the length of the queues.
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
      const queue = reliable ? reliables : others
      queue.push(() => work().then(resolve, reject))
      void serve()
    })
}
