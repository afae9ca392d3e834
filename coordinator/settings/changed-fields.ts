import canonicalize from 'canonicalize'

/** A field that is no longer what it was; `from` and `to` are JSON, `null` where there was nothing. */
export interface FieldChange {
  /** Path with dots, as in `limits.maxTurnTokens`. */
  readonly field: string
  readonly from: string
  readonly to: string
}

/** The JSON of what is not there. */
export const NOTHING = 'null'

/** Characters of a value that a change repeats: an event has all of them beside it. */
const SHOWN_CHARS = 512

/** What differs between two objects, in the order of their fields. */
export function changedFields(before: object, after: object): FieldChange[] {
  const [old, now] = [leavesOf(before), leavesOf(after)]
  const fields = [...new Set([...old.keys(), ...now.keys()])]
  return fields.flatMap((field) => {
    const from = old.get(field) ?? NOTHING
    const to = now.get(field) ?? NOTHING
    // An empty object that has fields now, or had some: they say it.
    const filled = (from === '{}' || to === '{}') && fields.some((other) => other.startsWith(`${field}.`))
    return from === to || filled ? [] : [{ field, from: from.slice(0, SHOWN_CHARS), to: to.slice(0, SHOWN_CHARS) }]
  })
}

/** Values by path, as JSON. A list is one value, and so is an object without fields. */
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
