import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { type DependencyEdge, dependencyGraph, isOptional, meaningOf } from '../../servers/kernel/index.js'
import { booking, toolOf } from './booking-environment.js'
import { fixture } from './checkout.js'

/** Labelled workflows. A step is the index of its function, and a link is a pair of steps with the argument that the first one gives. */
const Labels = z.strictObject({
  functions: z.array(z.string()),
  workflows: z.array(
    z.strictObject({
      steps: z.array(z.int().min(0)),
      links: z.array(z.tuple([z.int().min(0), z.int().min(0), z.string()])),
    }),
  ),
})

const MISSED = ['text or date', 'optional argument', 'key of another kind'] as const
const ADDED = [
  'another source is labelled',
  'no source is labelled, key within a list',
  'no source is labelled',
] as const

/** Two sets of edges over the same workflows, counted. */
export interface Agreement {
  readonly labelled: number
  readonly derived: number
  readonly both: number
}

/** Agreement of the derived graph with the labels. */
export interface LabelAgreement {
  readonly workflows: number
  readonly steps: number
  /** Pairs of functions, each counted once. */
  readonly functions: Agreement
  /** Pairs of steps of one workflow. */
  readonly pairs: Agreement
  /** Pairs of steps, without labels for values that no declaration describes as the result of a call. */
  readonly needed: Agreement
  /** Steps that depend on an earlier one. */
  readonly dependent: Agreement
  /** Pairs of steps that only the labels have, by the argument. */
  readonly missed: Readonly<Record<(typeof MISSED)[number], number>>
  /** Pairs of steps that only the graph has. */
  readonly added: Readonly<Record<(typeof ADDED)[number], number>>
}

/** Compares the graph of the booking functions with the labels of the fixture. */
export function labelAgreement(): LabelAgreement {
  const text = readFileSync(fixture('labels/tool-orchestration.json'), 'utf8')
  const { functions, workflows } = Labels.parse(JSON.parse(text))
  const tools = functions.map(toolOf)
  const graph = dependencyGraph(booking)
  const pairs = workflows.flatMap(({ steps, links }, workflow) =>
    steps.flatMap((to, j) =>
      steps.slice(0, j).map((from, i) => ({
        step: `${workflow}:${j}`,
        from: tools[from]!,
        to: tools[to]!,
        edges: graph
          .from(tools[from]!)
          .filter((edge) => edge.to === tools[to] && graph.prerequisites(edge.to).has(edge.from)),
        args: links.filter(([source, at]) => source === i && at === j).map(([, , arg]) => arg),
      })),
    ),
  )
  type Pair = (typeof pairs)[number]
  const isLabelled = ({ args }: Pair): boolean => args.length > 0
  const isDerived = ({ edges }: Pair): boolean => edges.length > 0
  const missed = pairs.filter((pair) => isLabelled(pair) && !isDerived(pair)).map(reasonOfMissed)
  const labelledNeeds = new Set(
    pairs.filter(isLabelled).flatMap(({ step, edges }) => edges.map((edge) => `${step} ${needOf(edge)}`)),
  )
  const added = pairs
    .filter((pair) => isDerived(pair) && !isLabelled(pair))
    .map((pair): (typeof ADDED)[number] => {
      if (pair.edges.some((edge) => labelledNeeds.has(`${pair.step} ${needOf(edge)}`)))
        return 'another source is labelled'
      if (pair.edges.some(isWithinList)) return 'no source is labelled, key within a list'
      return 'no source is labelled'
    })
  return {
    workflows: workflows.length,
    steps: workflows.reduce((sum, { steps }) => sum + steps.length, 0),
    functions: agreement(pairs, isLabelled, isDerived, ({ from, to }) => `${from} ${to}`),
    pairs: agreement(pairs, isLabelled, isDerived, (pair) => pair),
    needed: agreement(
      pairs,
      (pair) => isLabelled(pair) && (isDerived(pair) || reasonOfMissed(pair) === 'key of another kind'),
      isDerived,
      (pair) => pair,
    ),
    dependent: agreement(pairs, isLabelled, isDerived, ({ step }) => step),
    missed: tally(MISSED, missed),
    added: tally(ADDED, added),
  }
}

function agreement<P>(
  pairs: readonly P[],
  isLabelled: (pair: P) => boolean,
  isDerived: (pair: P) => boolean,
  unit: (pair: P) => unknown,
): Agreement {
  const labelled = new Set(pairs.filter(isLabelled).map(unit))
  const derived = new Set(pairs.filter(isDerived).map(unit))
  return {
    labelled: labelled.size,
    derived: derived.size,
    both: [...labelled].filter((one) => derived.has(one)).length,
  }
}

const tally = <K extends string>(names: readonly K[], found: readonly K[]): Record<K, number> =>
  Object.fromEntries(names.map((name) => [name, found.filter((one) => one === name).length])) as Record<K, number>

const needOf = (edge: DependencyEdge): string => (edge.kind === 'explicit' ? edge.entity : edge.fact)

const inputOf = (tool: string, field: string): z.ZodType => {
  const found = booking.toolsByName.get(tool)?.input.shape[field]
  if (found === undefined) throw new Error(`${tool} has no argument ${field}`)
  return found
}

function reasonOfMissed({
  to,
  args,
}: {
  readonly to: string
  readonly args: readonly string[]
}): (typeof MISSED)[number] {
  const required = args.map((arg) => inputOf(to, arg)).filter((field) => !isOptional(field))
  if (required.length === 0) return 'optional argument'
  return required.some((field) => meaningOf(field).entity !== undefined) ? 'key of another kind' : 'text or date'
}

const isWithinList = (edge: DependencyEdge): boolean =>
  edge.kind === 'explicit' && inputOf(edge.to, edge.field) instanceof z.ZodArray
