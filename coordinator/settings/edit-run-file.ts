import { isDeepStrictEqual } from 'node:util'
import { type Document, isCollection, isMap, isNode, isPair, isScalar, parse, parseDocument } from 'yaml'
import { ConfigError } from './config.js'

/**
 * Returns the text of a `run.yaml` with one changed field. Keeps all other text character by character if possible.
 * @param field  its path with dots
 * @param value  as written in the file
 * @throws ConfigError for text that is no YAML
 */
export function withField(text: string, field: string, value: string): string {
  const document = parseDocument(text, { logLevel: 'error' })
  const [problem] = document.errors
  if (problem) throw new ConfigError(`the file: ${problem.message.split('\n')[0]}`)
  const path = field.split('.')
  const spliced = splice(text, document, path, value.trim())
  try {
    document.setIn(path, parse(value, { logLevel: 'error' }))
  } catch (cause) {
    throw new ConfigError(`${field}: ${(cause as Error).message.split('\n')[0]}`, { cause })
  }
  return hasContent(spliced, document.toJS()) ? spliced : document.toString({ lineWidth: 0 })
}

/** Guesses the new text. The caller has to check its content. */
function splice(text: string, document: Document, path: readonly string[], value: string): string {
  const old = document.getIn(path, true)
  if (isNode(old) && old.range) return text.slice(0, old.range[0]) + value + text.slice(old.range[1])
  let depth = path.length - 1
  while (depth > 0 && !isCollection(document.getIn(path.slice(0, depth)))) depth -= 1
  const rest = path.slice(depth)
  const line = `${rest.join(': { ')}: ${value}${' }'.repeat(rest.length - 1)}`
  if (depth === 0) return `${text}${text.endsWith('\n') ? '' : '\n'}${line}\n`
  const parent = document.getIn(path.slice(0, depth))
  const first = isMap(parent) ? parent.items[0] : undefined
  const place = isPair(first) && isScalar(first.key) ? first.key.range?.[0] : undefined
  if (!isMap(parent) || place === undefined) return text
  const indent = text.slice(text.lastIndexOf('\n', place - 1) + 1, place)
  return `${text.slice(0, place)}${line}${parent.flow ? ', ' : `\n${indent}`}${text.slice(place)}`
}

function hasContent(text: string, content: unknown): boolean {
  try {
    return isDeepStrictEqual(parse(text, { logLevel: 'error' }), content)
  } catch {
    return false
  }
}
