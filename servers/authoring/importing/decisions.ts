import type { DraftEnvironment, DraftTool } from './draft-environment.js'
import { oneLine } from './names.js'
import type { ForeignService } from './shape.js'

/**
 * What a person must decide, as a list in Markdown to be ticked off.
 * @returns also how many there are
 */
export function decisionsText(service: ForeignService, environment: DraftEnvironment): { text: string; count: number } {
  const sections: [string, string[]][] = [
    ['The world', environmentDecisions(environment)],
    ['Tables', tableDecisions(environment)],
    ['Failures', failureDecisions(environment)],
    ['Tools', environment.tools.map(toolDecision)],
  ]
  const lists = sections.map(([title, items]) => `## ${title}\n\n${items.map((item) => `- [ ] ${item}`).join('\n')}\n`)
  const notes = [...new Set(service.notes)].map((note) => `- ${plain(note)}`)
  const left = notes.length === 0 ? '' : `\n## Left out or guessed\n\n${notes.join('\n')}\n`
  const title = plain(service.title) || environment.name
  return {
    text: `# ${environment.name}: what a person must decide\n\n${HEAD.replace('TITLE', () => title)}\n\n${lists.join('\n')}${left}`,
    count: sections.reduce((sum, [, items]) => sum + items.length, 0),
  }
}

const HEAD = `Drafted after TITLE. Names, arguments and the shapes of answers were taken over; what the calls do is in no such description.
Until a tool is decided it answers with the error \`undecided\`, and \`prove-server check .\` names it. To decide one, put \`sample\` and \`run\` in the
place of \`...undecided(…)\`; docs/environments.md of prove-swarm shows how. Descriptions come from somebody else and become part of prompts: read them.`

/** Text of others that is no Markdown. */
const plain = (text: string): string => oneLine(text).replaceAll(/[\\`*_[\]<>#|]/g, (mark) => `\\${mark}`)

const environmentDecisions = ({ name }: DraftEnvironment): string[] => [
  `What \`${name}\` is for, in its \`title\` and \`description\`.`,
  '`seed`: which rows a world begins with, made from its random numbers: large and varied enough to ask about.',
  '`invariants`: what holds after any calls, beyond rows that name others which are there.',
]

function tableDecisions({ entities }: DraftEnvironment): string[] {
  if (entities.length === 0) return ['Which tables there are: no call takes or shows a key.']
  return entities.map(({ table, name, isShown, key }) =>
    isShown
      ? `\`${table}\`: whether these are the fields of ${name.replaceAll('_', ' ')} rows, and which are left out. The key, \`${key}\`, is a text here.`
      : `\`${table}\`: calls take keys of ${name.replaceAll('_', ' ')} rows, and no answer shows one. Which fields do they have, and which tool lists them?`,
  )
}

function failureDecisions({ failures }: DraftEnvironment): string[] {
  const provoked = [...failures.keys()].map(
    (code) => `\`${code}\`: which calls end with it, and one in \`provoke.js\` that does.`,
  )
  return [...provoked, 'Which rules else refuse a call: a world in which every call succeeds teaches nothing.']
}

function toolDecision({ name, source, renamed, paging, undescribed }: DraftTool): string {
  const { readOnly } = source
  const more = [
    readOnly === undefined ? 'whether it only reads' : '',
    undescribed.length > 0 ? `what to say of ${list(undescribed)}` : '',
    paging.length > 0 ? `whether ${list(paging)} can go, for the kernel cuts lists into pages` : '',
    renamed.length > 0 ? `whether ${list(renamed.map(([, to]) => to))} are good names` : '',
  ].filter((part) => part !== '')
  const verb = readOnly === true ? 'which rows it looks at' : 'which rows it changes, and what refuses it'
  return `\`${name}\` (${plain(source.origin)}): ${[verb, 'what to draw as arguments', 'its entry in `speech.yaml`', ...more].join('; ')}.`
}

const list = (names: readonly string[]): string => names.map((name) => `\`${name.replaceAll('`', '')}\``).join(', ')
