import { type DependencyGraph, entitiesIn, type SeededRandom, type ServerDefinition } from '../servers/kernel/index.js'

/** A call that was executed while a task was being made. */
export interface ExecutedStep {
  readonly tool: string
  readonly output: Readonly<Record<string, unknown>>
}

/** A required argument that an earlier result supplies, and the words by which the user means it. */
export interface Binding {
  readonly field: string
  readonly key: string
  readonly phrase: string
}

/**
 * Chooses which arguments of `tool` come from the result of the step before it, one per explicit edge. Only keys that a
 * reader of the result can single out are used: the only one of its kind, the one with a label no other has, or the
 * first of a list.
 * @returns `null` when there is an explicit edge but the result holds nothing to bind
 */
export function bindArguments(
  server: ServerDefinition,
  graph: DependencyGraph,
  previous: ExecutedStep,
  tool: string,
  random: SeededRandom,
): Binding[] | null {
  const edges = graph
    .from(previous.tool)
    .flatMap((edge) => (edge.to === tool && edge.kind === 'explicit' ? [edge] : []))
  const implicit = graph.from(previous.tool).some((edge) => edge.to === tool && edge.kind === 'implicit')
  if (edges.length === 0) return []
  const occurrences = entitiesIn(server.toolsByName.get(previous.tool)!.output, previous.output)
  const bindings: Binding[] = []
  const taken = new Set<string>()
  for (const { field, entity } of random.shuffle(edges)) {
    const ofKind = occurrences.filter((found) => found.entity === entity)
    const free = ofKind.filter(({ key }) => !taken.has(key))
    if (free.length === 0) continue
    const chosen = random.pick(free)
    const phrase = phraseFor(server, entity, chosen, ofKind, random)
    if (phrase === undefined) continue
    taken.add(chosen.key)
    bindings.push({ field, key: chosen.key, phrase })
    // One key from one result: "transfer from that account to that account" would mean nothing.
    break
  }
  return bindings.length > 0 || implicit ? bindings : null
}

type Occurrence = ReturnType<typeof entitiesIn>[number]

function phraseFor(
  server: ServerDefinition,
  entity: string,
  chosen: Occurrence,
  ofKind: readonly Occurrence[],
  random: SeededRandom,
): string | undefined {
  const { noun, label } = server.entities[entity] ?? { noun: entity.replaceAll('_', ' ') }
  const keys = new Set(ofKind.map(({ key }) => key))
  if (keys.size === 1) return random.pick([`that ${noun}`, `the ${noun} from the result`])
  const named = label === undefined ? undefined : chosen.within[label]
  const namesakes = label === undefined ? [] : ofKind.filter(({ within }) => within[label] === named)
  if (typeof named === 'string' && new Set(namesakes.map(({ key }) => key)).size === 1) return `the ${noun} "${named}"`
  return chosen.key === ofKind[0]!.key ? `the first ${noun}` : undefined
}
