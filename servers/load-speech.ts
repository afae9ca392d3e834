import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { outsideFolder } from './catalogue.js'
import { type DataFile, dataFileError, packageFile, readDataFile } from './data-file.js'
import type { Environment } from './kernel/index.js'
import { EFFECTS, type EnvironmentSpeech, type SpokenEnvironment } from './kernel/speech.js'
import { type SpeechDefect, speechDefects } from './kernel/speech-defects.js'

/** The file of an environment's folder that contains its speech. */
export const SPEECH = 'speech.yaml'

const text = z.string('write a text here').min(1, 'the text is empty')
const texts = z.array(text, 'write a list here, one "- entry" per line')

const entry = z
  .strictObject({
    goal: text.optional(),
    answer: text.optional(),
    said: texts.optional(),
    keeps: texts.optional(),
    next: texts.optional(),
    checks: texts.optional(),
    elsewhere: texts.optional(),
    wishes: texts.optional(),
    effects: z.array(z.enum(EFFECTS)).optional(),
    ask: texts.min(1, 'no clause asks for the tool'),
    further: z.strictObject({ ask: texts.default([]), goals: texts.default([]) }).default({ ask: [], goals: [] }),
    undecided: text.optional(),
  })
  .refine(
    ({ goal, answer }) => (goal === undefined) === (answer === undefined),
    'give both `goal` and `answer`, or neither',
  )
  .refine(
    ({ goal, said, keeps, next, checks, elsewhere, wishes }) =>
      goal !== undefined || [said, keeps, next, checks, elsewhere, wishes].every((list) => list === undefined),
    '`said`, `keeps`, `next`, `checks`, `elsewhere` and `wishes` need a `goal` and an `answer`',
  )
const schema = z.record(z.string(), entry)

/** The speech of an environment, read from its file. */
export interface SpeechFile {
  readonly speech: EnvironmentSpeech
  /** Tools whose entry has the key `undecided`, as lines `file:line: …`. */
  readonly undecided: readonly string[]
  /** Returns `file:line` of a tool's entry, or of a text in it. */
  at(path: readonly (string | number)[]): string
}

/**
 * Reads `speech.yaml` of an environment and checks it against the tools.
 * @throws DataFileError with the file and line of every defect
 */
export function readSpeech(environment: Environment): SpeechFile {
  const { file, shown } = speechFileOf(environment)
  return readSpeechFile(environment, file, shown)
}

/**
 * Reads the speech of an environment from a given file, as `readSpeech`.
 * @param shown  name of the file in errors
 */
export function readSpeechFile(environment: Environment, file: string, shown = file): SpeechFile {
  if (!existsSync(file))
    throw dataFileError([
      `${shown}: the file does not exist; write one entry per tool of ${environment.name}, as docs/environments/speech.md shows`,
    ])
  const { value, at }: DataFile<z.output<typeof schema>> = readDataFile(file, shown, schema)
  const entries = Object.entries(value)
  const speech = new Map(entries.map(([name, { undecided: _, ...speech }]) => [name, speech])) as EnvironmentSpeech
  const defects = speechDefects(environment, speech)
  if (defects.length > 0)
    throw dataFileError(defects.map(({ path, problem }: SpeechDefect) => `${at(path)}: ${problem}`))
  const undecided = entries.flatMap(([name, { undecided }]) =>
    undecided === undefined
      ? []
      : [
          `${at([name, 'undecided'])}: the speech of ${name} is undecided: ${undecided}. Write it, then remove \`undecided\``,
        ],
  )
  return { speech, undecided, at }
}

const spoken = new WeakMap<Environment, SpokenEnvironment>()

/**
 * Returns the environment with its speech. The file is read once per process.
 * @throws DataFileError as `readSpeech`, and for entries with the key `undecided`
 */
export function withSpeech(environment: Environment): SpokenEnvironment {
  let found = spoken.get(environment)
  if (!found) {
    const { speech, undecided } = readSpeech(environment)
    if (undecided.length > 0) throw dataFileError(undecided)
    found = { ...environment, speech }
    spoken.set(environment, found)
  }
  return found
}

/** Returns the SHA-256 (hex) of an environment's speech file. */
export const speechSha256 = (environment: Environment): string =>
  createHash('sha256')
    .update(readFileSync(speechFileOf(environment).file))
    .digest('hex')

function speechFileOf({ name }: Environment): { readonly file: string; readonly shown: string } {
  const folder = outsideFolder(name)
  if (folder !== undefined) return { file: join(folder, SPEECH), shown: join(folder, SPEECH) }
  const shown = `servers/${name}/${SPEECH}`
  return { file: packageFile(shown), shown }
}
