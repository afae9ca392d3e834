import { parse, parseDocument } from 'yaml'
import { ConfigError } from './config.js'

/**
 * The text of a `run.yaml` in which one field is another; comments and everything else stay as they are.
 * @param field  its path with dots
 * @param value  as it would stand in the file
 * @throws ConfigError for text that is no YAML
 */
export function withField(text: string, field: string, value: string): string {
  const document = parseDocument(text, { logLevel: 'error' })
  const [problem] = document.errors
  if (problem) throw new ConfigError(`the file: ${problem.message.split('\n')[0]}`)
  try {
    document.setIn(field.split('.'), parse(value, { logLevel: 'error' }))
  } catch (cause) {
    throw new ConfigError(`${field}: ${(cause as Error).message.split('\n')[0]}`, { cause })
  }
  return document.toString({ lineWidth: 0 })
}
