import { IMPORT_LIMITS } from './limits.js'
import { oneLine } from './names.js'

export type Json = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Returns the value if it is a text, otherwise ''. */
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** Target of a reference, or the reason why it has no target. */
export type Target = { readonly found: unknown } | { readonly problem: string }

/** Follows a JSON pointer of a document, such as `#/components/schemas/Pet`. Nothing outside the document is fetched. */
export function followPointer(document: unknown, reference: string): Target {
  const shown = oneLine(reference, 80)
  if (!reference.startsWith('#/') && reference !== '#')
    return { problem: `"${shown}" is outside the document, and nothing is fetched` }
  let found = document
  for (const part of reference.split('/').slice(1)) {
    const key = decoded(part)
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key))
      return { problem: `"${shown}" refers to nothing` }
    found = (found as Json)[key]
  }
  return { found }
}

/** Returns a value, or the target of its chain of references. */
export function resolve(document: unknown, value: unknown): Target {
  let found = value
  for (let hops = 0; isObject(found) && typeof found.$ref === 'string'; hops++) {
    if (hops === IMPORT_LIMITS.schemaDepth) return { problem: `"${oneLine(found.$ref, 80)}" refers to itself` }
    const target = followPointer(document, found.$ref)
    if ('problem' in target) return target
    found = target.found
  }
  return { found }
}

/** Returns the last part of a reference, which is the name of its target. */
export const lastPart = (reference: string): string => decoded(reference.split('/').at(-1)!)

function decoded(part: string): string {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return part
  }
}
