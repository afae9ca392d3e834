import type { DraftEnvironment, DraftTool } from './draft-environment.js'
import { IMPORT_LIMITS } from './limits.js'
import { oneLine } from './names.js'
import type { ForeignService } from './shape.js'

/**
 * Returns the decisions that a person must make, as a list of checkboxes in Markdown, and their number.
 */
export function decisionsText(service: ForeignService, environment: DraftEnvironment): { text: string; count: number } {
  const sections: [string, string[]][] = [
    ['The environment', environmentDecisions(environment)],
    ['Tables', tableDecisions(environment)],
    ['Failures', failureDecisions(environment)],
    ['Tools', environment.tools.map(toolDecision)],
  ]
  const lists = sections.map(([title, items]) => `## ${title}\n\n${items.map((item) => `- [ ] ${item}`).join('\n')}\n`)
  const notes = notesOf(service, environment).map((note) => `- ${plain(note)}`)
  const left = notes.length === 0 ? '' : `\n## Left out or guessed\n\n${notes.join('\n')}\n`
  const title = plain(service.title) || environment.name
  return {
    text: `# ${environment.name}: what a person must decide\n\n${HEAD.replace('TITLE', () => title)}\n\n${lists.join('\n')}${left}`,
    count: sections.reduce((sum, [, items]) => sum + items.length, 0),
  }
}

/**
 * Returns the omissions and guesses in the calls of a draft. A large interface repeats each of them hundreds of times, so a note has
 * only the first places.
 */
export function notesOf({ notes }: ForeignService, { tools }: DraftEnvironment): string[] {
  const origins = new Set(tools.map(({ source }) => source.origin))
  const places = new Map<string, Set<string>>()
  for (const { where, what } of notes) {
    if (!origins.has(where) && !origins.has(where.split(', ')[0]!)) continue
    places.set(what, (places.get(what) ?? new Set()).add(where))
  }
  return [...places].map(([what, at]) => {
    const shown = [...at].slice(0, IMPORT_LIMITS.placesPerNote).join('; ')
    const more =
      at.size > IMPORT_LIMITS.placesPerNote ? `; and ${at.size - IMPORT_LIMITS.placesPerNote} more places` : ''
    return `${shown}${more}: ${what}`
  })
}

const HEAD = `Drafted from TITLE. The draft has its names, arguments and shapes of results. The source does not say what the calls do.
An undecided tool returns the error \`undecided\`, and \`prove-server check .\` names it. To decide a tool, replace \`...undecided(…)\` by \`sample\` and
\`run\`, as docs/environments/write.md of prove-swarm shows. The descriptions come from the source and become part of prompts: read them.`

/** Escapes text of the source for Markdown. */
const plain = (text: string): string => oneLine(text).replaceAll(/[\\`*_[\]<>#|]/g, (mark) => `\\${mark}`)

const environmentDecisions = ({ name }: DraftEnvironment): string[] => [
  `The purpose of \`${name}\`, in its \`title\` and \`description\`.`,
  '`seed`: the rows at the start of a session, made with its random numbers: many and varied.',
  '`invariants`: what is true after any calls, apart from keys that refer to existing rows.',
]

function tableDecisions({ entities }: DraftEnvironment): string[] {
  if (entities.length === 0) return ['Which tables the environment has: no call takes or shows a key.']
  return entities.map(({ table, name, isShown, key }) =>
    isShown
      ? `\`${table}\`: whether these are the fields of ${name.replaceAll('_', ' ')} rows, and which are left out. The key, \`${key}\`, is a text here.`
      : `\`${table}\`: calls take keys of ${name.replaceAll('_', ' ')} rows, and no answer shows one. Which fields do they have, and which tool lists them?`,
  )
}

function failureDecisions({ failures }: DraftEnvironment): string[] {
  const provoked = [...failures.keys()].map(
    (code) => `\`${code}\`: which calls end with it, and one such call in \`provoke.js\`.`,
  )
  return [...provoked, 'Which other rules prevent a call: an environment in which every call succeeds teaches nothing.']
}

function toolDecision({ name, source, renamed, paging, undescribed }: DraftTool): string {
  const { readOnly } = source
  const more = [
    readOnly === undefined ? 'whether it only reads' : '',
    undescribed.length > 0 ? `what to say of ${list(undescribed)}` : '',
    paging.length > 0 ? `whether ${list(paging)} can be removed, because the kernel cuts lists into pages` : '',
    renamed.length > 0 ? `whether ${list(renamed.map(([, to]) => to))} are good names` : '',
  ].filter((part) => part !== '')
  const verb = readOnly === true ? 'which rows it looks at' : 'which rows it changes, and what prevents it'
  return `\`${name}\` (${plain(source.origin)}): ${[verb, 'what to draw as arguments', 'its entry in `speech.yaml`', ...more].join('; ')}.`
}

const list = (names: readonly string[]): string => names.map((name) => `\`${name.replaceAll('`', '')}\``).join(', ')
