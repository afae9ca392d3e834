/**
 * Returns the item of a list, or the value of a record, that is known to be there.
 * @throws RangeError if the index has no item, which is a defect of the caller
 */
export function itemAt<T>(
  items: { readonly [index: number]: T } | { readonly [name: string]: T },
  index: number | string,
): NonNullable<T> {
  const item = (items as Readonly<Record<number | string, T>>)[index]
  if (item === undefined) throw new RangeError(`there is no item ${index}`)
  return item as NonNullable<T>
}

/**
 * Returns the last item of a list that is known to have one.
 * @throws RangeError if the list is empty
 */
export const lastOf = <T>(items: readonly T[]): NonNullable<T> => itemAt(items, items.length - 1)

/**
 * Returns the value of a map that is known to be there.
 * @throws RangeError if the key has no value
 */
export function valueAt<K, V>(map: ReadonlyMap<K, V>, key: K): V {
  const value = map.get(key)
  if (value === undefined) throw new RangeError(`there is no value for ${String(key)}`)
  return value
}
