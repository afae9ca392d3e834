import { offeredAt, type Task } from '../../rollout/episode/index.js'
import type { DomainRuleRole, Example, Information, Recovery } from './example.js'
import { type Kind, SPLITS, type Split } from './profile.js'

export const KINDS: readonly Kind[] = ['multi-turn', 'clarification', 'abstention']

/** Number of occurrences of each value. */
export type Tally<T> = Map<T, number>

/**
 * Statistics of a data set. Properties of conversations are counted over multi-turn examples only. Offered tools are counted over all
 * examples but abstentions, whose tools are unrelated to the request.
 */
export interface Statistics {
  examples: number
  readonly kinds: ReadonlyMap<Split, Tally<Kind>>
  readonly userTurns: Tally<number>
  readonly chainLengths: Tally<number>
  /** Ground-truth calls per example. */
  readonly calls: Tally<number>
  readonly chainEnvironments: Tally<number>
  readonly information: Tally<Information>
  readonly recovery: Tally<Recovery>
  /** Roles of the domain rules, such as `declined, amended`. */
  readonly domainRules: Tally<string>
  /** Number of clarification examples whose chain needs a tool that is not offered. */
  missingFunction: number
  readonly ownTools: Tally<number>
  readonly distractors: Tally<number>
  strippedEnums: number
  /** Number of examples whose chain uses the environment, without abstentions. */
  readonly environments: Tally<string>
  readonly personas: Set<string>
}

/** Returns statistics of an empty data set. */
export function emptyStatistics(): Statistics {
  return {
    examples: 0,
    kinds: new Map(SPLITS.map((split) => [split, new Map()])),
    userTurns: new Map(),
    chainLengths: new Map(),
    calls: new Map(),
    chainEnvironments: new Map(),
    information: new Map(),
    recovery: new Map(),
    domainRules: new Map(),
    missingFunction: 0,
    ownTools: new Map(),
    distractors: new Map(),
    strippedEnums: 0,
    environments: new Map(),
    personas: new Set(),
  }
}

/** Adds an example to the statistics. */
export function countExample(statistics: Statistics, { split, task, exchanges, ...example }: Example): void {
  const own = ownEnvironments(task)
  const chain = toolsOfChain(task.chain)
  const isOwn = (tool: Task['toolset'][number]): boolean => own.has(tool.environment)
  statistics.examples++
  count(statistics.kinds.get(split)!, task.kind)
  count(statistics.calls, task.groundTruth.length)
  if (task.stripEnums) statistics.strippedEnums++
  statistics.personas.add(example.persona)
  if (example.domainRules) count(statistics.domainRules, domainRulesName(example.domainRules))
  if (task.kind !== 'abstention') {
    count(statistics.ownTools, task.toolset.filter(isOwn).length)
    count(statistics.distractors, task.toolset.filter((tool) => !isOwn(tool)).length)
    for (const environment of own) count(statistics.environments, environment)
  }
  if (task.kind === 'multi-turn') {
    count(statistics.userTurns, exchanges.length)
    count(statistics.chainLengths, chain.length)
    count(statistics.chainEnvironments, own.size)
    count(statistics.information, example.information)
    if (example.recovery !== null) count(statistics.recovery, example.recovery)
  }
  const offered = new Set(offeredAt(task.toolset, 0).map(({ environment, tool }) => `${environment}:${tool}`))
  if (task.kind === 'clarification' && chain.some((name) => !offered.has(name))) statistics.missingFunction++
}

const domainRulesName = (domainRules: DomainRuleRole): string =>
  domainRules.role === 'abiding' ? domainRules.role : `${domainRules.role}, ${domainRules.outcome}`

/** Increments a tally. */
export function count<T>(tally: Tally<T>, value: T): void {
  tally.set(value, (tally.get(value) ?? 0) + 1)
}

/** Returns the sum of a tally. */
export const sumOf = (tally: ReadonlyMap<unknown, number>): number => [...tally.values()].reduce((a, b) => a + b, 0)

/** Returns the number of examples of a kind over all splits. */
export const ofKind = ({ kinds }: Statistics, kind: Kind): number =>
  [...kinds.values()].reduce((sum, tally) => sum + (tally.get(kind) ?? 0), 0)

/** Returns `environment:tool` for each tool of a chain's name, which contains an environment only where it changes. */
export function toolsOfChain(chain: string): string[] {
  let environment = ''
  return chain.split('>').map((step) => {
    const colon = step.indexOf(':')
    if (colon >= 0) environment = step.slice(0, colon)
    return `${environment}:${step.slice(colon + 1)}`
  })
}

/** Returns the environments of a task's chain. Other offered environments are distractors. */
export function ownEnvironments({ chain }: Pick<Task, 'chain'>): ReadonlySet<string> {
  return new Set(toolsOfChain(chain).map((name) => name.slice(0, name.indexOf(':'))))
}
