import canonicalize from 'canonicalize'

/** A changed field; `from` and `to` are JSON, `null` for an absent value. */
export interface FieldChange {
  /** Path with dots, as in `limits.maxTurnTokens`. */
  readonly field: string
  readonly from: string
  readonly to: string
}

/** The JSON of an absent value. */
export const NOTHING = 'null'

/** Characters of a value in a change. The event also contains the whole value. */
const SHOWN_CHARS = 512

/** Returns the differences of two objects, in the order of their fields. */
export function changedFields(before: object, after: object): FieldChange[] {
  const [old, now] = [leavesOf(before), leavesOf(after)]
  const fields = [...new Set([...old.keys(), ...now.keys()])]
  return fields.flatMap((field) => {
    const from = old.get(field) ?? NOTHING
    const to = now.get(field) ?? NOTHING
    // An empty object that gained or lost fields: the changes of these fields suffice.
    const filled = (from === '{}' || to === '{}') && fields.some((other) => other.startsWith(`${field}.`))
    return from === to || filled ? [] : [{ field, from: from.slice(0, SHOWN_CHARS), to: to.slice(0, SHOWN_CHARS) }]
  })
}

/** Returns values by path, as JSON. A list is one value, and so is an object without fields. */
function leavesOf(value: object, path = ''): Map<string, string> {
  return new Map(
    Object.entries(value).flatMap(([key, inner]): [string, string][] => {
      if (inner === undefined) return []
      return typeof inner === 'object' && inner !== null && !Array.isArray(inner) && Object.keys(inner).length > 0
        ? [...leavesOf(inner, `${path}${key}.`)]
        : [[path + key, canonicalize(inner)!]]
    }),
  )
}
