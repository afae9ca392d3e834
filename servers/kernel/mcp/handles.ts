import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { createSessionTable, type SessionTableOptions } from '../../../common/http/index.js'
import type { Environment } from '../define-environment.js'
import { rowChanges } from '../row-changes.js'
import { type CallResult, callRefused, type Session } from '../session.js'
import { type JsonSchema, jsonSchemaOf } from '../tool-schema.js'
import { answerCall, type ListedTool, type ToolAnswer, toolAnswer } from './answers.js'
import { titleOf } from './instructions.js'
import type { EnvironmentOffer } from './server.js'

/** The argument by which every call says in which session it is made: no name that a tool of an environment has for one of its own. */
const HANDLE = 'session'
const handle = z.string().min(1).max(80).describe('The session, as open or fork gave it')

/** Calls that a session is opened with, at most: more than any conversation here makes. */
const MOST_CALLS = 256

const row = z.record(z.string(), z.unknown()).nullable()
const opened = z.strictObject({
  session: z.string().describe('The session: an argument of every other tool'),
  seed: z.int(),
  environments: z.array(z.string()),
})

/** The tools that every server has in addition to those of its environments. */
const OWN_TOOLS = {
  open: {
    description:
      'Open a session with the environments in their first state. The same seed gives the same contents. `calls` are made at once, so they restore a session that was lost or belongs to another server.',
    input: z.strictObject({
      seed: z
        .int()
        .min(0)
        .max(0xffffffff)
        .optional()
        .describe('Contents of the environments; default: the seed that this server was started with'),
      calls: z
        .array(z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) }))
        .max(MOST_CALLS)
        .optional()
        .describe('Calls to begin with, in their order. Calls that failed may be omitted'),
    }),
    output: opened,
    readOnly: false,
    destructive: false,
  },
  fork: {
    description: 'Open another session in the same state. Calls in one of the two do not affect the other.',
    input: z.strictObject({ [HANDLE]: handle }),
    output: opened,
    readOnly: false,
    destructive: false,
  },
  diff: {
    description:
      'Show every row in which a session differs from how it began, or from another session of the same seed.',
    input: z.strictObject({
      [HANDLE]: handle,
      from: z.string().min(1).max(80).optional().describe('Another session; without it, the first state'),
    }),
    output: z.strictObject({
      changes: z.array(
        z.strictObject({ environment: z.string(), table: z.string(), key: z.string(), before: row, after: row }),
      ),
    }),
    readOnly: true,
    destructive: false,
  },
  close: {
    description: 'End a session. One that is left alone ends by itself.',
    input: z.strictObject({ [HANDLE]: handle }),
    output: z.strictObject({ closed: z.literal(true) }),
    readOnly: false,
    destructive: true,
  },
} as const
type OwnTool = keyof typeof OWN_TOOLS
const isOwn = (name: string): name is OwnTool => Object.hasOwn(OWN_TOOLS, name)

/** What a handle stands for: a session of each environment, opened when it is first needed. */
interface Opened {
  readonly seed: number
  readonly sessions: Map<Environment, Session>
}

/** Who calls. */
export interface Asker {
  /** For the limits. */
  readonly client: string
  /** Of the sessions that it opens without naming one. */
  readonly defaultSeed: number
}

/** Sessions by the handles that clients name in their arguments, because MCP 2026-07-28 itself has no sessions (SEP-2567). */
export interface Handles {
  /** Tools of the environments, each with the handle as an argument, and those that open, fork, compare and close. */
  readonly tools: readonly ListedTool[]
  readonly size: number
  /** A defect of an environment is thrown. */
  call(
    asker: Asker,
    name: string,
    args: Readonly<Record<string, unknown>>,
    meta: Readonly<Record<string, unknown>> | undefined,
  ): ToolAnswer
  closeIdle(): number
  closeAll(): Promise<void>
}

export function createHandles(
  offer: EnvironmentOffer,
  open: (environment: Environment, seed: number) => Session,
  limits: SessionTableOptions,
): Handles {
  const table = createSessionTable<Opened>(limits, async () => undefined)
  const environments = offer.environments.map(({ name }) => name)

  const sessionOf = ({ seed, sessions }: Opened, environment: Environment): Session => {
    let session = sessions.get(environment)
    if (!session) {
      session = open(environment, seed)
      sessions.set(environment, session)
    }
    return session
  }
  const keep = (client: string, made: Opened): CallResult => {
    const release = table.reserve(client)
    if (!release)
      return refused(
        'too_many_sessions',
        `All sessions are in use (${limits.maxSessions} in all, ${limits.maxPerClient} of one address). Close one, or try again later.`,
      )
    const id = randomUUID()
    table.add(id, client, made)
    release()
    return { ok: true, output: { session: id, seed: made.seed, environments } }
  }
  /** The session of that handle, in use from now on. */
  const named = (id: unknown): Opened | CallResult => {
    let found: Opened | undefined
    if (typeof id === 'string')
      void table.use(id, true, async (session) => {
        found = session
      })
    if (found) return found
    if (typeof id === 'string' && table.wasEvicted(id))
      return refused(
        'session_evicted',
        'This session rested while others needed its room. Open a new one, with its seed and calls.',
      )
    return refused(
      'unknown_session',
      `There is no session ${JSON.stringify(id)}, or it was idle too long. Call open first, and give what it answers as ${HANDLE}.`,
    )
  }

  const own: {
    readonly [N in OwnTool]: (asker: Asker, args: z.output<(typeof OWN_TOOLS)[N]['input']>) => CallResult
  } = {
    open({ client, defaultSeed }, { seed = defaultSeed, calls = [] }) {
      const made: Opened = { seed, sessions: new Map() }
      for (const { name, arguments: args } of calls) {
        const environment = offer.environmentOf(name)
        if (!environment) return callRefused('unknown_tool', `There is no tool called ${name}.`)
        sessionOf(made, environment).call(name, args)
      }
      return keep(client, made)
    },
    fork({ client }, args) {
      const from = named(args[HANDLE])
      if ('ok' in from) return from
      const sessions = new Map([...from.sessions].map(([environment, session]) => [environment, session.fork()]))
      return keep(client, { seed: from.seed, sessions })
    },
    diff(_, args) {
      const [after, before] = [named(args[HANDLE]), args.from === undefined ? null : named(args.from)]
      if ('ok' in after) return after
      if (before && 'ok' in before) return before
      if (before && before.seed !== after.seed)
        return refused(
          'other_seed',
          `They began with the seeds ${after.seed} and ${before.seed}, and have no row in common.`,
        )
      const start: Opened = before ?? { seed: after.seed, sessions: new Map() }
      const changes = offer.environments.flatMap((environment) =>
        rowChanges(sessionOf(start, environment), sessionOf(after, environment)),
      )
      return { ok: true, output: { changes } }
    },
    close(_, args) {
      const ended = named(args[HANDLE])
      if ('ok' in ended) return ended
      table.remove(args[HANDLE])
      return { ok: true, output: { closed: true } }
    },
  }

  return {
    tools: [...ownTools(), ...offer.tools.map(withHandle)],
    get size() {
      return table.size
    },
    call(asker, name, { [HANDLE]: id, ...args }, meta) {
      if (isOwn(name)) {
        const parsed = OWN_TOOLS[name].input.safeParse(id === undefined ? args : { ...args, [HANDLE]: id })
        if (!parsed.success) return toolAnswer(callRefused('invalid_arguments', z.prettifyError(parsed.error)))
        return toolAnswer((own[name] as (asker: Asker, args: unknown) => CallResult)(asker, parsed.data))
      }
      const environment = offer.environmentOf(name)
      if (!environment) return toolAnswer(callRefused('unknown_tool', `There is no tool called ${name}.`))
      const session = named(id)
      return 'ok' in session ? toolAnswer(session) : answerCall(sessionOf(session, environment), name, args, meta)
    },
    closeIdle: () => table.closeIdle(),
    closeAll: () => table.closeAll(),
  }
}

const refused = (code: string, message: string): CallResult => ({ ok: false, code, message })

function ownTools(): ListedTool[] {
  return Object.entries(OWN_TOOLS).map(([name, { description, input, output, readOnly, destructive }]) => ({
    name,
    title: titleOf(name),
    description,
    inputSchema: jsonSchemaOf(input, 'input'),
    outputSchema: jsonSchemaOf(output, 'output'),
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: destructive,
      idempotentHint: readOnly,
      openWorldHint: false,
    },
  }))
}

function withHandle(tool: ListedTool): ListedTool {
  const {
    properties = {},
    required = [],
    ...rest
  } = tool.inputSchema as JsonSchema & {
    readonly properties?: object
    readonly required?: readonly string[]
  }
  const argument = { type: 'string', description: 'The session, as open or fork gave it' }
  return {
    ...tool,
    inputSchema: { ...rest, properties: { [HANDLE]: argument, ...properties }, required: [HANDLE, ...required] },
  }
}
