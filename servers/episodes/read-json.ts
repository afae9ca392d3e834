import { EpisodeServerError } from './errors.js'

/**
 * Parses JSON of a client that contains values of a language model. Python also writes `NaN` and `Infinity`, which JSON does not have.
 * They become the number NaN, so that only the call with such a value is unreadable, and not the whole request.
 * @param what  name of the text in error messages
 * @throws EpisodeServerError `bad_request`
 */
export function readJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const mark = crypto.getRandomValues(new Uint32Array(4)).join('-')
    try {
      return JSON.parse(withoutNonFinite(text, `"${mark}"`), (_, value) => (value === mark ? Number.NaN : value))
    } catch {
      throw new EpisodeServerError('bad_request', `${what} is not JSON: send one JSON object`)
    }
  }
}

const NON_FINITE = /-?(?:NaN|Infinity)/y

/** Replaces `NaN`, `Infinity` and `-Infinity` outside strings. */
function withoutNonFinite(text: string, by: string): string {
  let [replaced, from, isString] = ['', 0, false]
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    if (character === '"') isString = !isString
    else if (isString && character === '\\') at += 1
    else if (!isString && 'NI-'.includes(character)) {
      NON_FINITE.lastIndex = at
      const found = NON_FINITE.exec(text)?.[0]
      if (found === undefined) continue
      replaced += text.slice(from, at) + by
      from = at + found.length
      at = from - 1
    }
  }
  return replaced + text.slice(from)
}
