import type { Catalogue } from '../../rollout/episode/index.js'
import { nodeName, toolGraph } from '../../servers/kernel/tool-graph.js'
import type { Example } from './example.js'
import { SPLITS, type Split } from './profile.js'
import { toolsOfChain } from './statistics.js'

/** Examples per split in which something occurs. */
export type Occurrences = Record<Split, number>

export interface ToolCoverage {
  /** `server:tool`. */
  readonly tool: string
  readonly examples: Occurrences
}

export interface EdgeCoverage {
  readonly from: string
  readonly to: string
  readonly kind: 'explicit' | 'implicit' | 'cross-environment'
  readonly examples: Occurrences
}

/** How often the ground truth uses each tool of the worlds and each edge of their dependency graphs, unused ones included. */
export interface Coverage {
  readonly tools: readonly ToolCoverage[]
  readonly edges: readonly EdgeCoverage[]
}

export interface CoverageCounter {
  add(example: Example): void
  finish(): Coverage
}

const never = (): Occurrences => ({ train: 0, validation: 0, 'held-out': 0 })

export function countCoverage(catalogue: Catalogue): CoverageCounter {
  const graph = toolGraph([...catalogue.values()])
  const tools = new Map(graph.nodes.map((node) => [nodeName(node), never()]))
  const edges = new Map<string, EdgeCoverage>()
  for (const { from, to, kind } of graph.links) {
    const name = `${nodeName(from)}>${nodeName(to)}`
    if (edges.get(name)?.kind === 'explicit') continue
    edges.set(name, { from: nodeName(from), to: nodeName(to), kind, examples: edges.get(name)?.examples ?? never() })
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
      // A step between worlds has no prerequisite in the ground truth; the chain alone knows of it.
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

export const occurrences = (examples: Occurrences): number => SPLITS.reduce((sum, split) => sum + examples[split], 0)

/** The full tables, as `coverage.json` holds them: one line per tool and edge. */
export function serializeCoverage({ tools, edges }: Coverage): string {
  const lines = (rows: readonly unknown[]): string => rows.map((row) => `\n    ${JSON.stringify(row)}`).join(',')
  return `{\n  "tools": [${lines(tools)}\n  ],\n  "edges": [${lines(edges)}\n  ]\n}\n`
}
