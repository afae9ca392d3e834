/** Returns a function that finds its result once for each object, and keeps the result as long as the object lives. */
export function oncePer<K extends object, R extends NonNullable<unknown>>(find: (key: K) => R): (key: K) => R {
  const known = new WeakMap<K, R>()
  return (key) => {
    let found = known.get(key)
    if (found === undefined) {
      found = find(key)
      known.set(key, found)
    }
    return found
  }
}

/** Returns a function that finds its result once for each object and name, and keeps the result as long as the object lives. */
export function oncePerName<K extends object, N, R extends NonNullable<unknown>>(
  find: (key: K, name: N) => R,
): (key: K, name: N) => R {
  const known = oncePer((_: K) => new Map<N, R>())
  return (key, name) => {
    const results = known(key)
    let found = results.get(name)
    if (found === undefined) {
      found = find(key, name)
      results.set(name, found)
    }
    return found
  }
}
