/**
 * Largest number of entries that a list or search shows, by the size of an entry. A result becomes part of the prompt of a small model,
 * and should stay within some 500 characters. That is five keys with two or three short fields each, four with more fields, or
 * three with a text or many fields.
 */
export const PAGE = { short: 5, long: 4, longest: 3 } as const

type Comparison<K extends string> = (a: Comparable<K>, b: Comparable<K>) => number
type Comparable<K extends string> = { readonly [F in K]: string | number }

/**
 * Returns an order for `sort` by the first of the fields in which two rows differ. Text is compared by UTF-16 code units, which is
 * the same on every machine; `localeCompare` is not.
 */
export function ascending<K extends string>(...fields: readonly K[]): Comparison<K> {
  return (a, b) => {
    for (const field of fields) {
      if (a[field] < b[field]) return -1
      if (a[field] > b[field]) return 1
    }
    return 0
  }
}

/** Returns the opposite order. Rows that are equal in the fields keep their order in both. */
export function descending<K extends string>(...fields: readonly K[]): Comparison<K> {
  const order = ascending(...fields)
  return (a, b) => order(b, a)
}
