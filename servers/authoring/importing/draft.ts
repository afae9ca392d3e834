import { stringify } from 'yaml'
import { decisionsText } from './decisions.js'
import type { DraftEnvironment, DraftTool } from './draft-environment.js'
import { type Entity, entitiesOf, namedEntity, recordName } from './entities.js'
import { ImportError } from './errors.js'
import { IMPORT_LIMITS } from './limits.js'
import { fieldNames, oneLine, snakeName, unused, wordsOf } from './names.js'
import type { Field, ForeignService, ForeignTool, Shape } from './shape.js'
import { type CodeOptions, fieldsCode, literal, property, shapeCode } from './zod-code.js'

/** Words of a title that are common to all services. */
const IDLE_WORDS = new Set(['api', 'openapi', 'open', 'swagger', 'mcp', 'server', 'service', 'rest', 'http', 'the'])

/** Names that hosts and trainers use for their own tools and methods. */
const RESERVED =
  'open fork diff close reset step state verify seed_session aggregate_metrics mcp get_reward reply_to_user call_tool list_tools'.split(
    ' ',
  )

/** A draft of an environment. */
export interface Draft extends DraftEnvironment {
  /** By file name. */
  readonly files: ReadonlyMap<string, string>
  /** Number of decisions that a person must make. */
  readonly decisions: number
}

/** Options of a draft. */
export interface DraftOptions {
  /** Default: made from the title of the service. */
  readonly name?: string
  /** Only tools whose name or origin contains one of these. */
  readonly only?: readonly string[]
  /** Names of tools of other environments, which the draft must not use. */
  readonly taken: Iterable<string>
}

/**
 * Drafts an environment with the calls of a service. The tools do nothing yet.
 * @throws ImportError `no_tools`, `too_large`
 */
export function draftEnvironment(service: ForeignService, { name: asked, only = [], taken }: DraftOptions): Draft {
  const chosen = service.tools.filter(
    (tool) => only.length === 0 || only.some((part) => `${tool.name} ${tool.origin}`.includes(part)),
  )
  if (chosen.length === 0)
    throw new ImportError(
      'no_tools',
      only.length === 0
        ? `the service offers no calls${whyNone(service)}`
        : `none of the ${service.tools.length} calls contains ${only.map((part) => `"${part}"`).join(' or ')}; their names and paths are like ${examplesOf(service.tools)}`,
    )
  if (chosen.length > IMPORT_LIMITS.tools)
    throw new ImportError(
      'too_large',
      `${chosen.length} calls are too many, a draft has at most ${IMPORT_LIMITS.tools}; choose some by --only, such as --only ${oneLine(chosen[0]!.name, 40)}`,
    )
  const title = wordsOf(service.title).filter((word) => !IDLE_WORDS.has(word) && !/^v?\d+$/.test(word))
  const name = asked ?? snakeName(title.slice(0, 3).join(' '), 'draft')
  const entities = entitiesOf(chosen)
  const foreign = new Set([...RESERVED, ...taken])
  const names = new Set(foreign)
  const tools = chosen.map((source): DraftTool => {
    const plain = snakeName(source.name, 'tool')
    const fields = fieldNames(source.input.keys())
    return {
      name: unused(foreign.has(plain) ? `${name}_${plain}` : plain, names),
      source,
      renamed: [...fields].filter(([from, to]) => from !== to),
      paging: [...fields.values()].filter((field) => PAGING.test(field)),
      undescribed: [...source.input]
        .filter(([field, said]) => said.description === '' && entityOf(source, field, said, entities) === undefined)
        .map(([field]) => fields.get(field)!),
    }
  })
  const environment = { name, entities: [...entities.values()], failures: failuresOf(chosen, entities), tools }
  const decisions = decisionsText(service, environment)
  const files = new Map([
    ['index.js', indexCode(service, environment)],
    ['speech.yaml', speechText(environment)],
    ['provoke.js', provokeCode(environment.failures)],
    ['package.json', `${JSON.stringify({ name, private: true, type: 'module' }, null, 2)}\n`],
    ['DECISIONS.md', decisions.text],
  ])
  return { ...environment, files, decisions: decisions.count }
}

/** Returns the reason why a document with calls gives none: usually, its parts are in other files. */
function whyNone({ notes }: ForeignService): string {
  const [first] = notes
  if (first === undefined) return ''
  const bundle = first.what.includes('outside the document')
    ? '; bundle it into one file first, such as with redocly bundle'
    : ''
  return `: ${first.where}: ${first.what}${bundle}`
}

const examplesOf = (tools: readonly ForeignTool[]): string =>
  tools
    .slice(0, 3)
    .map(({ name, origin }) => `${oneLine(name, 40)} (${oneLine(origin, 60)})`)
    .join(', ')

const PAGING = /^(page|page_?size|per_?page|limit|offset|cursor|skip|start|after|before)$/i

const entityOf = (tool: ForeignTool, field: string, { shape }: Field, entities: ReadonlyMap<string, Entity>) =>
  [tool.keysOf.get(field), namedEntity(field, shape)].find((one) => one !== undefined && entities.has(one))

/** Failures by their code: rows that are missing, and what the source says of answers that are errors. */
function failuresOf(tools: readonly ForeignTool[], entities: ReadonlyMap<string, Entity>): Map<string, string> {
  const failures = new Map<string, string>()
  for (const { name } of entities.values())
    failures.set(missing(name), `There is no such ${name.replaceAll('_', ' ')}.`)
  for (const words of tools.flatMap((tool) => tool.failures)) {
    // That a row is missing has its code already.
    if (/not found|no such|does(n't| not) exist/i.test(words)) continue
    const code = snakeName(wordsOf(words).slice(0, 4).join(' '), '')
    if (code !== '' && !failures.has(code)) failures.set(code, /[.!?]$/.test(words) ? words : `${words}.`)
  }
  return failures
}

const missing = (entity: string): string => `unknown_${entity}`

function indexCode({ title }: ForeignService, { name, entities, failures, tools }: DraftEnvironment): string {
  const known = new Set(entities.map((entity) => entity.name))
  // With a word behind it, none is a word of the language.
  const taken = new Set<string>()
  const constants = tools.map((tool) => unused(`${camel(tool.name)}Tool`, taken))
  const shown = title === '' ? name : title
  return `// A draft of an environment, made from ${oneLine(shown, 80)}. It does not work yet: every tool with undecided(…) returns an error, and
// "prove-server check ." names them all. DECISIONS.md lists the decisions to make.

/** @param {import('prove-swarm/environments').EnvironmentKit} kit */
export default ({ z, defineEnvironment, ref, toolMaker, undecided }) => {
  const tables = /** @type {const} */ ({${entities.map((entity) => tableCode(entity, known)).join('')}
  })
  const failures = {${[...failures].map(([code, words]) => `\n    ${code}: ${literal(words)},`).join('')}
  }
  const tool = toolMaker(tables, failures)
${tools.map((tool, i) => `\n${toolCode(constants[i]!, tool, known)}`).join('')}
  return defineEnvironment({
    name: ${literal(name)},
    title: ${literal(titleCase(name))},
    description: ${literal(`A draft after ${oneLine(shown, 80)}. It does not work yet.`)},
    tables,
    entities: {${entities.map(entityCode).join('')}
    },
    failures,
    tools: [${constants.map((constant) => `\n      ${constant},`).join('')}
    ],
    invariants: [${invariantsOf(entities).join('')}
    ],
    // No rows yet: decide which rows a session begins with.
    seed: () => ({ ${entities.map(({ table }) => `${table}: []`).join(', ')} }),
  })
}
`
}

function tableCode(entity: Entity, known: ReadonlySet<string>): string {
  const { table, key, fields, name } = entity
  const keyField: Field = { shape: { kind: 'text' }, isRequired: true, isNullable: false, description: '' }
  const row = new Map([[key, keyField], ...[...fields].filter(([field]) => field !== key)])
  const code = fieldsCode(row, { entities: known, keys: 'text', indent: '      ', owner: undefined })
  return `\n    ${table}: {\n      row: z.object(${code}),\n      key: ${literal(fieldNames(row.keys()).get(key)!)},\n      missing: ${literal(missing(name))},\n    },`
}

function entityCode({ name, table, fields, label }: Entity): string {
  const shown = label === undefined ? undefined : fieldNames(fields.keys()).get(label)!
  return `\n      ${name}: { noun: ${literal(name.replaceAll('_', ' '))}, table: ${literal(table)}${shown === undefined ? '' : `, label: ${literal(shown)}`} },`
}

/** What is certain of rows: those that they name are there. */
function invariantsOf(entities: readonly Entity[]): string[] {
  const byName = new Map(entities.map((entity) => [entity.name, entity]))
  return entities.flatMap(({ name, table, key, fields }) => {
    const names = fieldNames([key, ...[...fields.keys()].filter((field) => field !== key)])
    return [...fields].flatMap(([field, { shape }]) => {
      const target = byName.get(namedEntity(field, shape) ?? '')
      if (!target || field === key || shape.kind === 'list') return []
      const [of, at] = [names.get(field)!, names.get(key)!]
      return `\n      {
        name: ${literal(`every ${name.replaceAll('_', ' ')} names a ${target.name.replaceAll('_', ' ')} that is there`)},
        check: (now) => now.${table}.find((row) => row.${of} != null && !now.${target.table}.has(row.${of}))?.${at},
      },`
    })
  })
}

function toolCode(constant: string, { name, source, renamed }: DraftTool, known: ReadonlySet<string>): string {
  const options: CodeOptions = { entities: known, keys: 'key', indent: '    ' }
  const { input, keysOf, readOnly, destructive, idempotent } = source
  const { code: output, lists } = outputCode(source.output, options)
  const names = fieldNames(input.keys())
  const isPaged = lists.length > 0 && ![...names.values()].includes('page')
  const lines = [
    `name: ${literal(name)},`,
    `description: ${literal(descriptionOf(source))},`,
    `input: z.strictObject(${fieldsCode(input, { ...options, owner: undefined, keysOf })}),`,
    `output: z.object(${output}),`,
    ...(isPaged ? [`pages: { ${lists.map((list) => `${property(list)}: 'short'`).join(', ')} },`] : []),
    `annotations: { readOnly: ${readOnly === true}${destructive ? ', destructive: true' : ''}${idempotent && readOnly !== true ? ', idempotent: true' : ''} },`,
    `...undecided(${literal(questionOf(source))}),`,
  ]
  const was = renamed.map(([from, to]) => `  // The argument ${to} is ${literal(oneLine(from, 60))} there.\n`).join('')
  return `  // ${source.origin}\n${was}  const ${constant} = tool({\n${lines.map((line) => `    ${line}\n`).join('')}  })\n`
}

const descriptionOf = ({ description, name }: ForeignTool): string => {
  const said = description === '' ? `${sentence(wordsOf(name).join(' '))}` : sentence(description)
  return /[.!?…]$/.test(said) ? said : `${said}.`
}

/** Results are objects: a list is put into one. */
function outputCode(shape: Shape | undefined, options: CodeOptions): { code: string; lists: string[] } {
  if (!shape || shape.kind === 'open') return { code: '{}', lists: [] }
  if (shape.kind === 'record') {
    const names = fieldNames(shape.fields.keys())
    const lists = [...shape.fields].filter(([, field]) => field.shape.kind === 'list')
    const code = fieldsCode(shape.fields, { ...options, owner: recordName(shape, undefined) })
    return { code, lists: lists.map(([field]) => names.get(field)!) }
  }
  const field = shape.kind === 'list' ? 'entries' : 'result'
  return { code: `{ ${field}: ${shapeCode(shape, options)} }`, lists: shape.kind === 'list' ? [field] : [] }
}

const questionOf = ({ origin, readOnly }: ForeignTool): string =>
  readOnly === true
    ? `which rows ${origin} looks at, and what it answers`
    : `which rows ${origin} changes, what its rules refuse, and what it answers`

/** Returns the draft's speech file: one clause per tool, and a mark that a person has to write the rest. */
function speechText({ name, tools }: DraftEnvironment): string {
  const entries = tools.map((tool): [string, object] => [
    tool.name,
    {
      undecided: 'two more clauses, a goal and an answer',
      ask: [clauseOf(tool.source, fieldNames(tool.source.input.keys()))],
    },
  ])
  const head = `# How users ask for the tools of ${name}, and how the assistant reports what a call did. Only the synthesis of tasks reads this file.
# docs/environments/speech.md of prove-swarm describes the format. "prove-server check ." lists every entry that is undecided.
`
  return `${head}\n${stringify(Object.fromEntries(entries), { lineWidth: 0, singleQuote: true })}`
}

/** Returns one clause, made from the description in the source. A person would word it otherwise, and in several ways. */
function clauseOf({ description, name, input }: ForeignTool, names: ReadonlyMap<string, string>): string {
  const said = oneLine(description.replaceAll(/[{}[\]]/g, ''), 100).replace(/[.!?…\s]+$/, '')
  const lower = `${said.slice(0, 1).toLowerCase()}${said.slice(1)}`
  const words = wordsOf(name).join(' ')
  const base = /^[a-z]/.test(lower) ? lower : /^[a-z]/.test(words) ? words : `call ${words}`
  const part = (field: string) => `with ${wordsOf(names.get(field)!).join(' ')} {${names.get(field)!}}`
  const required = [...input].filter(([, { isRequired }]) => isRequired).map(([field]) => part(field))
  const optional = [...input].filter(([, { isRequired }]) => !isRequired).map(([field]) => `[ ${part(field)}]`)
  return `${base}${required.length === 0 ? '' : ` ${required.join(' and ')}`}${optional.join('')}`
}

function provokeCode(failures: ReadonlyMap<string, string>): string {
  return `// One call per failure code that must end with this failure, for "prove-server check", such as
//   unknown_thing: (session) => ['show_thing', { thing: 'thing-0' }],
// To be written: ${[...failures.keys()].join(', ') || 'none, for the draft declares no failures yet'}

export const provoke = {}
`
}

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
const titleCase = (name: string): string => sentence(name.replaceAll('_', ' '))
const camel = (name: string): string => name.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
