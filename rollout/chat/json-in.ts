import { READ_LIMITS } from './limits.js'

/**
 * Extracts the JSON object from a reply: the text between the outermost braces. Models write thoughts, fences or other text around it.
 * @returns  `undefined` if the reply has no JSON object
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
