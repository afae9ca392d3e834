import { READ_LIMITS } from './limits.js'

/**
 * The JSON object in a reply. Models think aloud, put JSON into fences, or talk around it; what stands between the outermost braces counts.
 * @returns `undefined` when there is none
 */
export function jsonIn(text: string): unknown {
  if (text.length > READ_LIMITS.replyChars) return undefined
  const answer = text.split('</think>').at(-1)!
  const [from, to] = [answer.indexOf('{'), answer.lastIndexOf('}')]
  if (from < 0 || to - from > READ_LIMITS.jsonChars) return undefined
  try {
    return JSON.parse(answer.slice(from, to + 1))
  } catch {
    return undefined
  }
}
