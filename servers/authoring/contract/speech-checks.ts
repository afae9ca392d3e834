import { countOf } from '../../../common/errors/index.js'
import { type Environment, isOptional, type ToolDefinition, type ToolSpeech } from '../../kernel/index.js'
import type { SpeechFile } from '../../load-speech.js'
import { type EnvironmentCheck, hold } from './breach.js'

/** Least number of clauses that ask for a tool: fewer make tasks that sound alike. */
const LEAST_CLAUSES = 3

/**
 * Returns the checks of an environment's speech.
 * @param read  reads the speech file, and throws where the file contradicts the tools
 */
export function speechChecks({ tools }: Environment, read: () => SpeechFile): EnvironmentCheck[] {
  let known: SpeechFile | undefined
  const file = (): SpeechFile => {
    known ??= read()
    return known
  }
  return [
    {
      name: 'has speech that fits its tools',
      run() {
        file()
      },
    },
    {
      name: 'leaves no speech undecided',
      run() {
        const { undecided } = file()
        hold(
          undecided.length === 0,
          undecided.join('\n      '),
          'docs/environments/speech.md shows what an entry contains.',
        )
      },
    },
    {
      name: 'can be asked for every tool in several ways that carry every argument',
      run() {
        for (const tool of tools) checkClauses(tool, file())
      },
    },
  ]
}

function checkClauses({ name, input, pages }: ToolDefinition, { speech, at }: SpeechFile): void {
  const { ask } = speech.get(name) as ToolSpeech
  const place = at([name, 'ask'])
  hold(
    ask.length >= LEAST_CLAUSES,
    `${place}: ${name} has ${countOf(ask.length, 'clause')} in \`ask\``,
    `Give it at least ${LEAST_CLAUSES} clauses.`,
  )
  for (const [i, clause] of ask.entries()) {
    const line = at([name, 'ask', i])
    hold(ask.indexOf(clause) === i, `${line}: ${name} repeats the clause "${clause}"`, 'Write it in other words.')
    hold(
      /^[a-z]/.test(clause) && !/[.!?]$/.test(clause),
      `${line}: ${name}: the clause "${clause}" is a whole sentence`,
      'Begin in lower case and end without a full stop, so that the clause fits after "Please" and after "then".',
    )
  }
  for (const [field, schema] of Object.entries(input.shape)) {
    // A user asks for the second page only after the first.
    if (!isOptional(schema) || (pages && field === 'page')) continue
    const optional = new RegExp(`\\[[^\\]]*\\{${field}\\}[^\\]]*\\]`)
    hold(
      ask.some((clause) => optional.test(clause)),
      `${place}: no clause of ${name} can carry the optional {${field}}`,
      `Put the field in brackets with the words around it, such as "…[ for {${field}}]".`,
    )
  }
}
