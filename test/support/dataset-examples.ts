import { nameTask, type Task } from '../../rollout/episode/index.js'
import type { Json, JsonObject } from '../../rollout/reward/index.js'
import { CATALOGUE } from '../../servers/catalogue.js'
import {
  createWorldCache,
  dependencyGraph,
  deriveSeed,
  type SeededRandom,
  type ServerDefinition,
  type Session,
  seededRandom,
} from '../../servers/kernel/index.js'
import type { Example, Exchange, Origin, TeacherCall } from '../../tasks/dataset/example.js'
import type { DatasetInfo } from '../../tasks/dataset/index.js'
import { PAPER_PROFILE, SPLITS } from '../../tasks/dataset/profile.js'

export const worlds = createWorldCache(32)
/** Some of the worlds, so that tests stay quick. */
export const catalogue: ReadonlyMap<string, ServerDefinition> = new Map(
  ['banking', 'calendar', 'email', 'maps', 'shopping'].map((name) => [name, CATALOGUE.get(name)!]),
)

/** Examples of all kinds and splits with real calls and trivial words, in an order that is the same every time. */
export function makeExamples(count: number): Example[] {
  return Array.from({ length: count }, (_, index) => {
    const random = seededRandom(deriveSeed('test/dataset', index))
    if (index % 5 === 3) return withoutCalls(index, 'abstention', random)
    return index % 5 === 4 ? withoutCalls(index, 'clarification', random) : withCalls(index, random)
  })
}

export async function* stream<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items
}

export const info: DatasetInfo = {
  title: 'A village of tools',
  profile: PAPER_PROFILE,
  seed: 7,
  settings: { multi_turn: 9, held_out_worlds: [] },
  provenance: ['Made by a test.'],
  diversity: (texts) => ({ 'different turns': new Set(texts).size, 'share of different turns': 0.5 }),
  outcome: () => ({
    drops: { no_walk: 12, duplicate: 3 },
    sanity: [{ policy: 'the teacher', examples: 15, meanReward: 1.24, solved: 1 }],
  }),
}

const splitAt = (index: number): Example['split'] => SPLITS[index % 7 === 0 ? 2 : index % 4 === 1 ? 1 : 0]!
const serverAt = (index: number): ServerDefinition => [...catalogue.values()][index % catalogue.size]!

function withCalls(index: number, random: SeededRandom): Example {
  const server = serverAt(index)
  const seed = 100 + index
  const session = worlds.open(server, seed)
  const made = index % 3 === 0 ? [failedCall(server, session)] : []
  const steps = sampleSteps(server, session, random, 2 + (index % 2))
  const { prerequisites } = dependencyGraph(server)
  const groundTruth = steps.map(({ name, arguments: args }, i) => ({
    name,
    arguments: args,
    after: steps.slice(0, i).flatMap((earlier, j) => (prerequisites(name).has(earlier.name) ? [j] : [])),
    turn: i === 0 ? 0 : 1,
  }))
  const turns = [`Please do ${steps[0]!.name} for me.`, 'And now the rest: “über” & \u2028 all.']
  const distractor = serverAt(index + 1)
  const withDistractors = index % 2 === 0
  const task = nameTask({
    kind: 'multi-turn',
    worlds: [{ server: server.name, seed }, ...(withDistractors ? [{ server: distractor.name, seed: 5 }] : [])],
    toolset: toolset(server, withDistractors ? distractor : undefined),
    ...(index % 4 === 0 ? { stripEnums: true as const } : {}),
    ...(index % 4 === 2 ? { system: 'Today is 2026-03-02. You talk to Ada, a nurse from Porto.' } : {}),
    turns,
    groundTruth,
    chain: `${server.name}:${steps.map(({ name }) => name).join('>')}`,
  })
  const exchanges: Exchange[] = [
    { user: turns[0]!, calls: [...made, steps[0]!], assistant: 'Done.' },
    { user: turns[1]!, calls: steps.slice(1), assistant: 'All of it is done.' },
  ]
  return {
    index,
    split: splitAt(index),
    task,
    information: index % 4 === 1 ? 'missing' : 'complete',
    recovery: made.length > 0 ? 'corrected' : null,
    persona: 'Ada, a nurse from Porto',
    exchanges,
    origins: steps.map(({ arguments: args }, i) => originsOf(args, i)),
    speech: 'plain',
  }
}

/** The sorts of origin in turn. */
function originsOf(args: JsonObject, call: number): Record<string, Origin> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value], i): [string, Origin] => {
      const phrase = JSON.stringify(value)
      if (i % 3 === 2) return [name, { from: 'context', phrase }]
      return [name, call > 0 && i % 3 === 1 ? { from: 'result', call: 0, phrase } : { from: 'user', turn: 0, phrase }]
    }),
  )
}

function withoutCalls(index: number, kind: 'clarification' | 'abstention', random: SeededRandom): Example {
  const server = serverAt(index)
  const user = `Please ${random.pick(['paint', 'feed', 'polish'])} my boat ${index}.`
  const hidden = server.tools.at(-1)!
  const task = nameTask({
    kind,
    worlds: [{ server: server.name, seed: index }],
    toolset: toolset(server).filter(({ tool }) => tool !== hidden.name),
    turns: [user],
    groundTruth: [],
    chain: `${server.name}:${server.tools[0]!.name}>${hidden.name}`,
  })
  const assistant = kind === 'abstention' ? 'I have no tool for that.' : 'Which one do you mean?'
  return {
    index,
    split: splitAt(index),
    task,
    information: 'minimal',
    recovery: null,
    persona: 'Bo, a baker from Lyon',
    exchanges: [{ user, calls: [], assistant }],
    origins: [],
    speech: 'natural',
  }
}

/** All tools of one world and a few of another. */
function toolset(server: ServerDefinition, distractor?: ServerDefinition): Task['toolset'] {
  const own = new Set(server.tools.map(({ name }) => name))
  const others = distractor?.tools.filter(({ name }) => !own.has(name)).slice(0, 4) ?? []
  return [
    ...server.tools.slice(0, 60).map(({ name }) => ({ server: server.name, tool: name })),
    ...others.map(({ name }) => ({ server: distractor!.name, tool: name })),
  ]
}

function sampleSteps(server: ServerDefinition, session: Session, random: SeededRandom, count: number): TeacherCall[] {
  const steps: TeacherCall[] = []
  for (let attempt = 0; steps.length < count; attempt++) {
    if (attempt > 500) throw new Error(`${server.name}: no ${count} calls succeed`)
    const tool = random.pick(server.tools)
    const sampled = session.sampleArguments(tool, random, {})
    if (!sampled || steps.some(({ name }) => name === tool.name)) continue
    const args = Object.fromEntries(Object.entries(sampled).filter(([, value]) => value !== undefined)) as Record<
      string,
      Json
    >
    const result = session.call(tool.name, args)
    if (!result.ok) continue
    const response = JSON.stringify(result.output)
    steps.push({ server: server.name, name: tool.name, arguments: args, response, ok: true, truth: steps.length })
  }
  return steps
}

/** A call that the world refuses for a reason of its own: it names something that is not there. */
function failedCall(server: ServerDefinition, session: Session): TeacherCall {
  for (const tool of server.tools) {
    const sampled = session.sampleArguments(tool, seededRandom(1), {})
    if (!sampled) continue
    for (const field of Object.keys(sampled)) {
      const args = { ...sampled, [field]: 'no-such-thing-404' } as Record<string, Json>
      const result = session.fork().call(tool.name, args)
      if (result.ok || result.code === 'invalid_arguments') continue
      const response = JSON.stringify({ error: result.code, message: result.message })
      return { server: server.name, name: tool.name, arguments: args, response, ok: false, truth: null }
    }
  }
  throw new Error(`${server.name}: no call fails`)
}
