import type { DropReason, Drops, Example } from '../../dataset/example.js'
import type { Profile, Split } from '../../dataset/profile.js'
import { nameTask, type Task, type TaskBody } from '../../episode/index.js'
import type { Json } from '../../reward/index.js'
import {
  dependencyGraph,
  deriveSeed,
  SESSION_START,
  type SeededRandom,
  type ServerDefinition,
  seededRandom,
  type WorldCache,
} from '../../servers/kernel/index.js'
import { type Node, nodeName, type ToolGraph } from '../../servers/kernel/tool-graph.js'
import type { Persona, Speech } from '../wording/speech.js'
import {
  drawShape,
  type Open,
  type Script,
  type Shape,
  scriptConversation,
  type Withheld,
} from './conversation-script.js'
import { chooseToolset, rivals } from './draw-toolset.js'
import { firstObjection } from './filters.js'
import { type Chain, chainName, splitOf } from './split.js'
import { drawChain, type Step, walk } from './walk.js'
import { putIntoWords, type Worded } from './word-conversation.js'

/** What all examples of a data set share. */
export interface SynthesisContext {
  readonly servers: readonly ServerDefinition[]
  readonly catalogue: ReadonlyMap<string, ServerDefinition>
  readonly graph: ToolGraph
  readonly worlds: WorldCache
  readonly profile: Profile
  readonly speech: Speech
  readonly seed: number
  readonly heldOutWorlds: ReadonlySet<string>
  drawPersona(random: SeededRandom): Persona
  smallTalk(random: SeededRandom): { readonly topic: string; readonly text: string }
  denotes(phrase: string, value: Json, today: string): boolean
}

/** Which example is wanted: everything about it follows from this and the context. */
export interface Assignment {
  readonly index: number
  readonly split: Split
  readonly kind: Task['kind']
  /** The tool that the example is about. */
  readonly target: Node
  /** 0 at first; counts up when what came out was not kept. */
  readonly round: number
}

export interface Made {
  readonly example: Example | null
  readonly drops: Drops
}

/** Draws of chain, world and words before an assignment is given up for this round. */
const ATTEMPTS = 30
/** Attempts in one world before another is generated (the paper's k, section 3.2, is not given). */
const ATTEMPTS_PER_WORLD = 10

const TODAY = SESSION_START.slice(0, 10)

/** Makes one example, or finds that this round yields none. The same assignment and context give the same bytes. */
export function makeExample(assignment: Assignment, context: SynthesisContext): Made {
  const drops: Drops = {}
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const random = seededRandom(
      deriveSeed('prove/example/1', context.seed, assignment.index, assignment.round, attempt),
    )
    const world = assignment.round * (ATTEMPTS / ATTEMPTS_PER_WORLD) + Math.floor(attempt / ATTEMPTS_PER_WORLD)
    const worldSeed = worldSeedOf(assignment, world, context.seed)
    const made = MAKERS[assignment.kind](assignment, worldSeed, context, random)
    if (typeof made !== 'string') return { example: made, drops }
    if (made !== 'other_split') drops[made] = (drops[made] ?? 0) + 1
  }
  return { example: null, drops }
}

/**
 * Worlds of different splits never coincide: their seeds differ modulo four. Examples that are made together share
 * their worlds: generating one costs more than all else.
 */
function worldSeedOf({ index, split }: Assignment, world: number, seed: number): number {
  const drawn = deriveSeed('prove/world/1', seed, Math.floor(index / EXAMPLES_PER_WORLD), world)
  return drawn - (drawn % 4) + { train: 0, validation: 1, 'held-out': 3 }[split]
}

/** Neighbouring examples whose attempts draw on the same worlds: those of one batch. */
const EXAMPLES_PER_WORLD = 50

type Maker = (
  assignment: Assignment,
  worldSeed: number,
  context: SynthesisContext,
  random: SeededRandom,
) => Example | DropReason | 'other_split'

const MAKERS: Readonly<Record<Task['kind'], Maker>> = {
  'multi-turn': makeMultiTurn,
  clarification: makeClarification,
  abstention: makeAbstention,
}

/** A chain of the assignment's split around `core`, executed in fresh sessions. */
function takeSteps(
  { split }: Assignment,
  core: Chain,
  length: number,
  worldSeed: number,
  context: SynthesisContext,
  random: SeededRandom,
): { chain: Chain; steps: Step[]; open: Open } | DropReason {
  const chain = drawChainOf(split, core, length, context, random)
  if (!chain) return 'no_walk'
  const open: Open = (server) => context.worlds.open(server, worldSeed)
  const steps = walk(chain, open, context.profile, random)
  return steps ? { chain, steps, open } : 'no_walk'
}

/** Few chains hold a call that only works after another: where one is wanted, the chain is built around such a pair. */
function coreOf({ target }: Assignment, { recovery }: Shape, { graph }: SynthesisContext, random: SeededRandom): Chain {
  if (recovery !== 'other-tool') return [target]
  const pairs = graph.links.filter(({ kind, from, to }) => {
    const known = Object.keys(to.tool.input.shape)
    const plain = Object.keys(from.tool.input.shape).every((field) => known.includes(field))
    return kind === 'implicit' && plain && !from.tool.annotations.readOnly
  })
  if (pairs.length === 0) return [target]
  const { from, to } = random.pick(pairs)
  return [from, to]
}

/** Short chains around one tool are few, and perhaps none belongs to a rare split: others may then take its place. */
function shortCore({ target, split }: Assignment, { graph }: SynthesisContext, random: SeededRandom): Chain {
  return [split === 'train' || random.chance(0.3) ? target : random.pick(graph.nodes)]
}

/**
 * Splits are told apart by hash, so chains are drawn until one belongs to the split that is wanted. Tools that need
 * several look-ups have no short chains: the length is then the least that there is.
 */
function drawChainOf(
  split: Split,
  core: Chain,
  length: number,
  { graph, profile, heldOutWorlds }: SynthesisContext,
  random: SeededRandom,
): Chain | null {
  for (let longer = length; longer <= LONGEST; longer++) {
    let drawn = false
    for (let attempt = 0; attempt < DRAWS_PER_SPLIT[split]; attempt++) {
      const chain = drawChain(graph, core, longer, profile, random)
      if (!chain) continue
      drawn = true
      if (splitOf(chain, heldOutWorlds) === split) return chain
    }
    if (drawn) return null
  }
  return null
}

/** The paper's chains have two to five tools (section 3.2). */
const LONGEST = 5

/** The rarer a split's chains, the more draws. */
const DRAWS_PER_SPLIT: Readonly<Record<Split, number>> = { train: 8, 'held-out': 16, validation: 60 }

/** What is drawn once per round, not per attempt, so that what is harder to find keeps its share. */
const shapeRandom = ({ index, round }: Assignment, { seed }: SynthesisContext): SeededRandom =>
  seededRandom(deriveSeed('prove/shape/1', seed, index, round))

function makeMultiTurn(
  assignment: Assignment,
  worldSeed: number,
  context: SynthesisContext,
  random: SeededRandom,
): ReturnType<Maker> {
  const { profile, speech, catalogue, denotes } = context
  const drawn = shapeRandom(assignment, context)
  const shape = drawShape(profile, drawn)
  const length = Math.max(drawLength(profile, drawn), shortestFor(shape))
  const taken = takeSteps(assignment, coreOf(assignment, shape, context, random), length, worldSeed, context, random)
  if (typeof taken === 'string') return taken
  const { chain, steps, open } = taken
  const script = scriptIn(SCRIPTS_PER_WALK, () => scriptConversation(steps, shape, open, profile, random))
  if (!script) return 'no_script'
  const persona = context.drawPersona(random)
  const worded = putIntoWords(steps, script, speech, { persona, today: TODAY, dated: profile.context, random })
  if (!worded) return 'no_words'
  const toolset = chooseToolset(
    { home: homeOf(chain), needed: chain, hidden: rivals(steps, script.silent), distractors: true },
    context.servers,
    profile,
    random,
  )
  const task = buildTask(
    {
      kind: 'multi-turn',
      toolset,
      turns: worded.exchanges.map(({ user }) => user),
      groundTruth: groundTruthOf(steps, worded),
      chain: chainName(chain),
    },
    { worldSeed, persona, profile, random },
  )
  const example = assemble(assignment, task, script, persona, worded, context)
  return firstObjection({ example, steps, script, open, catalogue, denotes, today: TODAY }) ?? example
}

/** Walks cost more than scripts: one that was found is given several chances. */
const SCRIPTS_PER_WALK = 4

function scriptIn(tries: number, draw: () => Script | null): Script | null {
  for (let left = tries; left > 0; left--) {
    const script = draw()
    if (script) return script
  }
  return null
}

/** The right answer is a question or a refusal: the needed tools are hidden, or a required value is missing. */
function makeClarification(
  assignment: Assignment,
  worldSeed: number,
  context: SynthesisContext,
  random: SeededRandom,
): ReturnType<Maker> {
  const { profile, speech } = context
  const hides = shapeRandom(assignment, context).chance(profile.missingFunction)
  const taken = takeSteps(
    assignment,
    shortCore(assignment, context, random),
    random.int(1, 3),
    worldSeed,
    context,
    random,
  )
  if (typeof taken === 'string') return taken
  const { chain, steps } = taken
  const persona = context.drawPersona(random)
  const script = hides ? askForAll(steps) : withholding(steps, random)
  if (!script) return 'no_words'
  const worded = putIntoWords(steps, script, speech, { persona, today: TODAY, dated: profile.context, random })
  if (!worded) return 'no_words'
  const hidden = new Set(hides ? [...chain.map(nodeName), ...rivals(steps, new Set(steps.keys()))] : [])
  const toolset = chooseToolset(
    { home: homeOf(chain), needed: hides ? [] : chain, hidden, distractors: true },
    context.servers,
    profile,
    random,
  )
  if (toolset.length === 0) return 'no_walk'
  const moment = { persona, today: TODAY, dated: profile.context, turn: 0, random }
  const [opening] = worded.exchanges
  const exchange = { user: opening!.user, calls: [], assistant: hides ? speech.decline(moment) : opening!.assistant }
  const task = buildTask(
    { kind: 'clarification', toolset, turns: [exchange.user], groundTruth: [], chain: chainName(chain) },
    { worldSeed, persona, profile, random },
  )
  const silent: Worded = { exchanges: [exchange], origins: [], turnOf: [] }
  return assemble(
    assignment,
    task,
    { ...script, information: hides ? 'complete' : 'missing' },
    persona,
    silent,
    context,
  )
}

/** Nothing on offer can serve the request: it belongs to another world, or to none. */
function makeAbstention(
  assignment: Assignment,
  worldSeed: number,
  context: SynthesisContext,
  random: SeededRandom,
): ReturnType<Maker> {
  const { profile, speech, servers } = context
  const persona = context.drawPersona(random)
  const moment = { persona, today: TODAY, dated: profile.context, random }
  let user: string
  let name: string
  let home: readonly ServerDefinition[] = random.sample(servers, random.int(1, 2))
  const hidden = new Set<string>()
  if (random.chance(SMALL_TALK) || servers.length === 1) {
    const { topic, text } = context.smallTalk(random)
    user = text
    name = `small-talk:${topic}`
    if (splitOf(name) !== assignment.split) return 'other_split'
  } else {
    const taken = takeSteps(
      assignment,
      shortCore(assignment, context, random),
      random.int(1, 2),
      worldSeed,
      context,
      random,
    )
    if (typeof taken === 'string') return taken
    const { chain, steps } = taken
    const worded = putIntoWords(steps, askForAll(steps), speech, moment)
    if (!worded) return 'no_words'
    user = worded.exchanges[0]!.user
    name = chainName(chain)
    const away = servers.filter((server) => !homeOf(chain).includes(server))
    home = random.sample(away, random.int(1, Math.min(2, away.length)))
    for (const similar of alike(chain, home)) hidden.add(similar)
  }
  const toolset = chooseToolset({ home, needed: [], hidden, distractors: false }, servers, profile, random)
  if (toolset.length === 0) return 'no_walk'
  const task = buildTask(
    { kind: 'abstention', toolset, turns: [user], groundTruth: [], chain: name },
    { worldSeed, persona, profile, random },
  )
  const exchange = { user, calls: [], assistant: speech.decline({ ...moment, turn: 0 }) }
  const course = { information: 'complete', recovery: null } as const
  return assemble(assignment, task, course, persona, { exchanges: [exchange], origins: [], turnOf: [] }, context)
}

/** Of the abstention tasks, those whose request belongs to no world at all. */
const SMALL_TALK = 0.35

/** Tools of other worlds that might pass for one of the chain: two words of their names agree. */
function alike(chain: Chain, home: readonly ServerDefinition[]): string[] {
  const words = (name: string): string[] => name.split('_').map((word) => word.replace(/s$/, ''))
  const wanted = chain.map(({ tool }) => new Set(words(tool.name)))
  return home.flatMap((server) =>
    server.tools
      .filter(({ name }) => wanted.some((set) => words(name).filter((word) => set.has(word)).length >= 2))
      .map((tool) => nodeName({ server, tool })),
  )
}

function askForAll(steps: readonly Step[], withheld?: Withheld): Script {
  const asks = [...steps.keys()]
  return {
    turns: [{ says: 'request', asks, steps: [], ...(withheld ? { withheld } : {}) }],
    information: withheld ? 'missing' : 'complete',
    recovery: null,
    silent: new Set(),
  }
}

/** Leaves out a value that the first call cannot do without. */
function withholding(steps: readonly Step[], random: SeededRandom): Script | null {
  const { tool, args } = steps[0]!
  const fields = Object.entries(tool.input.shape).filter(([field, schema]) => {
    const value = args[field]
    if (schema.isOptional() || (typeof value !== 'string' && typeof value !== 'number')) return false
    return steps.every((other, i) => i === 0 || !Object.values(other.args).includes(value))
  })
  return fields.length === 0 ? null : askForAll(steps, { step: 0, field: random.pick(fields)[0] })
}

function drawLength({ lengths }: Profile, random: SeededRandom): number {
  let left = (random.int(0, 999_999) / 1_000_000) * lengths.reduce((sum, weight) => sum + weight, 0)
  const drawn = lengths.findIndex((weight) => {
    left -= weight
    return left < 0
  })
  return 2 + Math.max(0, drawn)
}

/** Every request of a conversation asks for something. */
const shortestFor = ({ requests }: Shape): number => Math.max(2, requests)

const homeOf = (chain: Chain): ServerDefinition[] => [...new Set(chain.map(({ server }) => server))]

/**
 * The ground truth with its edges: for every tool with an edge to a call, the nearest earlier call of that tool (reward
 * specification, section 1), and the calls whose results it takes over.
 */
function groundTruthOf(steps: readonly Step[], { turnOf }: Worded): TaskBody['groundTruth'] {
  return steps.map(({ server, tool, args, bindings }, i) => {
    const names = dependencyGraph(server).prerequisites(tool.name)
    const nearest = new Map(steps.slice(0, i).map((step, j) => [step.server === server ? step.tool.name : '', j]))
    const after = new Set([...nearest].filter(([name]) => names.has(name)).map(([, j]) => j))
    for (const { source } of bindings) after.add(source)
    return { name: tool.name, arguments: args, after: [...after].sort((a, b) => a - b), turn: turnOf[i]! }
  })
}

interface Setting {
  readonly worldSeed: number
  readonly persona: Persona
  readonly profile: Profile
  readonly random: SeededRandom
}

function buildTask(
  body: Omit<TaskBody, 'worlds' | 'stripEnums' | 'system'>,
  { worldSeed, persona, profile, random }: Setting,
): Task {
  const names = [...new Set(body.toolset.map(({ server }) => server))].sort()
  return nameTask({
    ...body,
    worlds: names.map((server) => ({ server, seed: worldSeed })),
    ...(random.chance(profile.stripEnums) ? { stripEnums: true } : {}),
    ...(profile.context ? { system: `Today is Monday, 2 March 2026 (${TODAY}). The user is ${persona.role}.` } : {}),
  })
}

function assemble(
  { index, split }: Assignment,
  task: Task,
  { information, recovery }: Pick<Script, 'information' | 'recovery'>,
  persona: Persona,
  { exchanges, origins }: Worded,
  { profile }: SynthesisContext,
): Example {
  return {
    index,
    split,
    task,
    information,
    recovery,
    persona: persona.role,
    exchanges,
    origins,
    speech: profile.speech,
  }
}
