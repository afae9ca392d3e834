import type { Catalogue } from '../../rollout/episode/index.js'
import { nodeName, toolGraph } from '../../servers/kernel/tool-graph.js'
import type { Example } from './example.js'
import { SPLITS, type Split } from './profile.js'
import { toolsOfChain } from './statistics.js'

/** A large data set is expected to have each tool in this many examples. The card lists all other tools. */
export const EXPECTED_PER_TOOL = 5

/** Number of examples per split. */
export type Occurrences = Record<Split, number>

export interface ToolCoverage {
  /** `environment:tool`. */
  readonly tool: string
  readonly examples: Occurrences
}

export interface EdgeCoverage {
  readonly from: string
  readonly to: string
  readonly kind: 'explicit' | 'implicit' | 'cross-environment'
  readonly examples: Occurrences
}

/** Number of examples whose ground truth uses each tool and each edge of the dependency graphs, including unused ones. */
export interface Coverage {
  readonly tools: readonly ToolCoverage[]
  readonly edges: readonly EdgeCoverage[]
}

export interface CoverageCounter {
  add(example: Example): void
  finish(): Coverage
}

const noOccurrences = (): Occurrences => ({ train: 0, validation: 0, 'held-out': 0 })

/** Creates a counter for the coverage of a catalogue. */
export function countCoverage(catalogue: Catalogue): CoverageCounter {
  const graph = toolGraph([...catalogue.values()])
  const tools = new Map(graph.nodes.map((node) => [nodeName(node), noOccurrences()]))
  const edges = new Map<string, EdgeCoverage>()
  for (const { from, to, kind } of graph.links) {
    const name = `${nodeName(from)}>${nodeName(to)}`
    if (edges.get(name)?.kind === 'explicit') continue
    edges.set(name, {
      from: nodeName(from),
      to: nodeName(to),
      kind,
      examples: edges.get(name)?.examples ?? noOccurrences(),
    })
  }
  return {
    add({ split, task, exchanges }) {
      const calls = exchanges.flatMap((exchange) => exchange.calls.filter(({ truth }) => truth !== null))
      const names = calls.map(({ environment, name }) => `${environment}:${name}`)
      for (const name of new Set(names)) {
        const examples = tools.get(name)
        if (examples) examples[split]++
      }
      const chain = toolsOfChain(task.chain)
      const steps = chain.slice(1).map((to, i) => `${chain[i]}>${to}`)
      const scored = task.groundTruth.flatMap(({ after }, i) => after.map((j) => `${names[j]}>${names[i]}`))
      // The ground truth has no prerequisite for a step between environments; only the chain contains it.
      const crossed =
        task.groundTruth.length > 0 ? steps.filter((step) => edges.get(step)?.kind === 'cross-environment') : []
      for (const name of new Set([...scored, ...crossed])) {
        const edge = edges.get(name)
        if (edge) edge.examples[split]++
      }
    },
    finish: () => ({ tools: [...tools].map(([tool, examples]) => ({ tool, examples })), edges: [...edges.values()] }),
  }
}

/** Returns the number of examples over all splits. */
export const occurrences = (examples: Occurrences): number => SPLITS.reduce((sum, split) => sum + examples[split], 0)

/** Returns the content of `coverage.json`, with one line per tool and edge. */
export function serializeCoverage({ tools, edges }: Coverage): string {
  const lines = (rows: readonly unknown[]): string => rows.map((row) => `\n    ${JSON.stringify(row)}`).join(',')
  return `{\n  "tools": [${lines(tools)}\n  ],\n  "edges": [${lines(edges)}\n  ]\n}\n`
}
