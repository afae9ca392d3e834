import { nameTask, type Task } from '../../rollout/episode/index.js'
import type { Json, JsonObject } from '../../rollout/reward/index.js'
import {
  createSeedStateCache,
  dependencyGraph,
  deriveSeed,
  type Environment,
  type SeededRandom,
  type Session,
  seededRandom,
} from '../../servers/kernel/index.js'
import type { Example, Exchange, Origin, ReferenceCall } from '../../tasks/dataset/example.js'
import type { DatasetInfo } from '../../tasks/dataset/index.js'
import { PAPER_PROFILE, SPLITS } from '../../tasks/dataset/profile.js'
import { CATALOGUE } from './catalogue.js'

export const seedStates = createSeedStateCache(32)
/** Some of the environments, so that tests stay quick. */
export const catalogue: ReadonlyMap<string, Environment> = new Map(
  ['banking', 'calendar', 'email', 'maps', 'shopping'].map((name) => [name, CATALOGUE.get(name)!]),
)

/** Returns examples of all kinds and splits, with real calls and trivial words, always in the same order. */
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
  settings: { multi_turn: 9, held_out_environments: [] },
  provenance: ['Made by a test.'],
  diversity: (texts) => ({ 'different turns': new Set(texts).size, 'share of different turns': 0.5 }),
  outcome: () => ({
    drops: { no_walk: 12, duplicate: 3 },
    sanity: [{ policy: 'reference solution', examples: 15, meanReward: 1.24, solved: 1 }],
  }),
}

const splitAt = (index: number): Example['split'] => SPLITS[index % 7 === 0 ? 2 : index % 4 === 1 ? 1 : 0]!
const environmentAt = (index: number): Environment => [...catalogue.values()][index % catalogue.size]!

function withCalls(index: number, random: SeededRandom): Example {
  const environment = environmentAt(index)
  const seed = 100 + index
  const session = seedStates.open(environment, seed)
  const made = index % 3 === 0 ? [failedCall(environment, session)] : []
  const steps = sampleSteps(environment, session, random, 2 + (index % 2))
  const { prerequisites } = dependencyGraph(environment)
  const groundTruth = steps.map(({ name, arguments: args }, i) => ({
    name,
    arguments: args,
    after: steps.slice(0, i).flatMap((earlier, j) => (prerequisites(name).has(earlier.name) ? [j] : [])),
    turn: i === 0 ? 0 : 1,
  }))
  const turns = [`Please do ${steps[0]!.name} for me.`, 'And now the rest: “über” & \u2028 all.']
  const distractor = environmentAt(index + 1)
  const withDistractors = index % 2 === 0
  const task = nameTask({
    kind: 'multi-turn',
    environments: [
      { environment: environment.name, seed },
      ...(withDistractors ? [{ environment: distractor.name, seed: 5 }] : []),
    ],
    toolset: toolset(environment, withDistractors ? distractor : undefined),
    ...(index % 4 === 0 ? { stripEnums: true as const } : {}),
    ...(index % 4 === 2 ? { system: 'Today is 2026-03-02. You talk to Ada, a nurse from Porto.' } : {}),
    turns,
    groundTruth,
    chain: `${environment.name}:${steps.map(({ name }) => name).join('>')}`,
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

/** Returns each kind of origin in turn. */
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
  const environment = environmentAt(index)
  const user = `Please ${random.pick(['paint', 'feed', 'polish'])} my boat ${index}.`
  const hidden = environment.tools.at(-1)!
  const task = nameTask({
    kind,
    environments: [{ environment: environment.name, seed: index }],
    toolset: toolset(environment).filter(({ tool }) => tool !== hidden.name),
    turns: [user],
    groundTruth: [],
    chain: `${environment.name}:${environment.tools[0]!.name}>${hidden.name}`,
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

/** Returns all tools of one environment and a few of another. */
function toolset(environment: Environment, distractor?: Environment): Task['toolset'] {
  const own = new Set(environment.tools.map(({ name }) => name))
  const others = distractor?.tools.filter(({ name }) => !own.has(name)).slice(0, 4) ?? []
  return [
    ...environment.tools.slice(0, 60).map(({ name }) => ({ environment: environment.name, tool: name })),
    ...others.map(({ name }) => ({ environment: distractor!.name, tool: name })),
  ]
}

function sampleSteps(environment: Environment, session: Session, random: SeededRandom, count: number): ReferenceCall[] {
  const steps: ReferenceCall[] = []
  for (let attempt = 0; steps.length < count; attempt++) {
    if (attempt > 500) throw new Error(`${environment.name}: no ${count} calls succeed`)
    const tool = random.pick(environment.tools)
    const sampled = session.sampleArguments(tool, random, {})
    if (!sampled || steps.some(({ name }) => name === tool.name)) continue
    const args = Object.fromEntries(Object.entries(sampled).filter(([, value]) => value !== undefined)) as Record<
      string,
      Json
    >
    const result = session.call(tool.name, args)
    if (!result.ok) continue
    const response = JSON.stringify(result.output)
    steps.push({
      environment: environment.name,
      name: tool.name,
      arguments: args,
      response,
      ok: true,
      truth: steps.length,
    })
  }
  return steps
}

/** Returns a call that the environment rejects, because it names something that does not exist. */
function failedCall(environment: Environment, session: Session): ReferenceCall {
  for (const tool of environment.tools) {
    const sampled = session.sampleArguments(tool, seededRandom(1), {})
    if (!sampled) continue
    for (const field of Object.keys(sampled)) {
      const args = { ...sampled, [field]: 'no-such-thing-404' } as Record<string, Json>
      const result = session.fork().call(tool.name, args)
      if (result.ok || result.code === 'invalid_arguments') continue
      const response = JSON.stringify({ error: result.code, message: result.message })
      return { environment: environment.name, name: tool.name, arguments: args, response, ok: false, truth: null }
    }
  }
  throw new Error(`${environment.name}: no call fails`)
}
