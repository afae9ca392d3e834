import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { packageRoot } from '../../common/cli/index.js'
import type { Tokenizer } from '../../rollout/engine/index.js'
import {
  adviceFor,
  EpisodeError,
  type FormatFit,
  formatFits,
  MAX_TEMPLATE_CHARS,
  requireFormat,
  toolCallFormatNamed,
} from '../../rollout/episode/index.js'
import { ConfigError } from './config.js'

/** Chat templates of this package, one file each. */
const TEMPLATES = join(packageRoot, 'models', 'templates')
const ENDING = '.jinja'

/** Returns the names of this package's chat templates. */
export const templateNames = (): string[] =>
  readdirSync(TEMPLATES)
    .filter((file) => file.endsWith(ENDING))
    .map((file) => basename(file, ENDING))
    .sort()

/** Returns the file of a chat template. @param name  the name of one of this package, or a file. @throws ConfigError */
export function templateFile(name: string): string {
  const file = templateNames().includes(name) ? join(TEMPLATES, `${name}${ENDING}`) : name
  if (!existsSync(file))
    throw new ConfigError(
      `--template ${name}: there is no such file, and this package has ${templateNames().join(', ')}`,
    )
  if (!statSync(file).isFile() || statSync(file).size > 4 * MAX_TEMPLATE_CHARS)
    throw new ConfigError(`--template ${name}: not a file of at most ${MAX_TEMPLATE_CHARS} characters`)
  return file
}

/** Reads a chat template. @throws ConfigError */
export function readTemplate(file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (cause) {
    throw new ConfigError(`${file}: not text in UTF-8`, { cause })
  }
}

/** Checks that the base of a run can write in the run's tool-call format. @throws ConfigError with what to do */
export function requireBaseFormat(
  tokenizer: Tokenizer,
  { path, toolCallFormat }: { readonly path: string; readonly toolCallFormat: string },
): void {
  try {
    requireFormat(tokenizer, toolCallFormatNamed(toolCallFormat), path)
  } catch (cause) {
    if (!(cause instanceof EpisodeError)) throw cause
    throw new ConfigError(`base.toolCallFormat: ${cause.detail}`, { cause })
  }
}

/**
 * Returns the tool-call formats in which a model can write, the recommended one first.
 * @throws ConfigError if the model fits no format, with the reason for each and what to do
 */
export function fittingFormats(tokenizer: Tokenizer, path: string): readonly [FormatFit, ...FormatFit[]] {
  const all = formatFits(tokenizer)
  const [first, ...others] = all.filter(({ problem }) => problem === null)
  if (first) return [first, ...others]
  const reasons = all.map(({ name, problem }) => `  ${name}: ${problem}`)
  throw new ConfigError(
    [`the chat template of ${path} fits no tool-call format:`, ...reasons, adviceFor(tokenizer, path)].join('\n'),
  )
}
