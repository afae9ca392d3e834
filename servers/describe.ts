import type { z } from 'zod'
import { countOf } from '../common/errors/index.js'
import {
  type DomainRules,
  dependencyGraph,
  type Environment,
  jsonSchemaOf,
  meaningOf,
  type ToolDefinition,
} from './kernel/index.js'

/** Edges of the dependency graph that share a reason: tools that produce something, and tools that take it. */
interface EdgeGroup {
  /** `account` for an entity, `card_frozen` for a fact. */
  readonly reason: string
  readonly kind: 'explicit' | 'implicit'
  readonly from: readonly string[]
  readonly to: readonly string[]
}

/** Describes an environment in Markdown, for `docs/environments/catalogue/` and `prove-server describe`. `level`: level of the heading. */
export function describeEnvironment(environment: Environment, level = 1): string {
  const heading = (depth: number, text: string): string => `${'#'.repeat(level + depth)} ${text}`
  const groups = edgeGroups(environment)
  return [
    heading(0, environment.name),
    environment.description,
    heading(1, `${environment.tools.length} tools`),
    table(['tool', 'what it does', 'parameters', 'answers with', 'kind'], environment.tools.map(toolRow)),
    heading(1, 'Failures'),
    table(
      ['code', 'meaning'],
      Object.entries(environment.failures).map(([code, message]) => [`\`${code}\``, message]),
    ),
    heading(1, 'Invariants'),
    environment.invariants.map(({ name }) => `- ${name}`).join('\n'),
    ...(environment.domainRules ? [heading(1, 'Domain rules'), ...domainRulesOf(environment.domainRules)] : []),
    heading(1, 'Dependency graph'),
    `${countOf(dependencyGraph(environment).edges.length, 'edge')}: every tool on the left of a row leads to every other tool on its right.`,
    table(
      ['from', 'through', 'to'],
      groups.map(({ from, reason, to, kind }) => [
        codes(from),
        kind === 'explicit' ? `${reason.replaceAll('_', ' ')} key` : `\`${reason}\` is true`,
        codes(to),
      ]),
    ),
    ['```mermaid', ...drawing(groups), '```'].join('\n'),
  ].join('\n\n')
}

/** Describes all environments in Markdown. Returns the pages by file name: a page for each environment, and `index.md`, which lists them. */
export function describeCatalogue(catalogue: ReadonlyMap<string, Environment>): Map<string, string> {
  const environments = [...catalogue.values()]
  const tools = environments.reduce((sum, environment) => sum + environment.tools.length, 0)
  const index = [
    '# Catalogue of environments',
    'Generated from the declarations in `servers/` by `npm run docs`. A test checks that it is current.',
    `${environments.length} environments with ${tools} tools. [Writing an environment](../write.md) shows how to add one.`,
    table(
      ['environment', 'tools', 'failures', 'edges', 'what it is'],
      environments.map((environment) => [
        `[${environment.name}](${environment.name}.md)`,
        String(environment.tools.length),
        String(Object.keys(environment.failures).length),
        String(dependencyGraph(environment).edges.length),
        environment.description,
      ]),
    ),
  ].join('\n\n')
  const pages = environments.map((environment) => [`${environment.name}.md`, describeEnvironment(environment)] as const)
  return new Map([['index.md', index] as const, ...pages].map(([name, text]) => [name, `${text}\n`]))
}

/** Returns the domain rules as the assistant reads them, with their tools. */
function domainRulesOf({ intro, rules }: DomainRules): string[] {
  return [
    intro,
    table(
      ['rule', 'tool', 'demand', 'text'],
      rules.map((rule) => [`\`${rule.name}\``, `\`${rule.tool}\``, rule.demand, rule.text]),
    ),
  ]
}

function toolRow(tool: ToolDefinition): string[] {
  const { readOnly, destructive, idempotent } = tool.annotations
  const hints = [readOnly ? 'reads' : 'writes', destructive && 'destructive', !readOnly && idempotent && 'idempotent']
  return [
    `\`${tool.name}\``,
    tool.description,
    Object.entries(tool.input.shape)
      .map(([name, field]) => parameter(tool, name, field as z.ZodType))
      .join('; '),
    Object.keys(tool.output.shape)
      .map((name) => `\`${name}\``)
      .join(' '),
    hints.filter(Boolean).join(', '),
  ]
}

interface FieldSchema {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly items?: FieldSchema
  readonly minimum?: number
  readonly maximum?: number
  readonly description?: string
}

function parameter(tool: ToolDefinition, name: string, field: z.ZodType): string {
  const { properties } = jsonSchemaOf(tool.input, 'input') as { properties: Record<string, FieldSchema> }
  const schema = properties[name]!
  const { entity, sensitive } = meaningOf(field)
  const notes = [
    entity === undefined ? typeOf(schema) : `${entity.replaceAll('_', ' ')} key`,
    field.isOptional() && 'optional',
    sensitive && 'secret',
    schema.description?.replace(/\.$/, ''),
  ]
  return `\`${name}\`: ${notes.filter(Boolean).join(', ')}`
}

function typeOf({ type, enum: options, items, minimum, maximum }: FieldSchema): string {
  if (options) return options.map((option) => `\`${option}\``).join(' or ')
  if (items) return `list of ${typeOf(items)}`
  if (type !== 'integer' && type !== 'number') return type ?? 'any'
  if (minimum !== undefined && maximum !== undefined) return `${type} ${minimum} to ${maximum}`
  return minimum === undefined ? type : `${type} from ${minimum}`
}

function edgeGroups(environment: Environment): EdgeGroup[] {
  const groups = new Map<string, { kind: EdgeGroup['kind']; from: Set<string>; to: Set<string> }>()
  for (const edge of dependencyGraph(environment).edges) {
    const reason = edge.kind === 'explicit' ? edge.entity : edge.fact
    const id = `${edge.kind} ${reason}`
    const group = groups.get(id) ?? { kind: edge.kind, from: new Set(), to: new Set() }
    group.from.add(edge.from)
    group.to.add(edge.to)
    groups.set(id, group)
  }
  return [...groups].map(([id, { kind, from, to }]) => ({
    reason: id.slice(id.indexOf(' ') + 1),
    kind,
    from: [...from],
    to: [...to],
  }))
}

/** Draws entities as round nodes and facts as hexagons between the tools, with far fewer lines than edges between tools. */
function drawing(groups: readonly EdgeGroup[]): string[] {
  const lines = ['flowchart LR']
  for (const [index, { reason, kind, from, to }] of groups.entries()) {
    const node = `${kind === 'explicit' ? 'e' : 'f'}${index}`
    const [arrow, open, close] = kind === 'explicit' ? ['-->', '([', '])'] : ['-.->', '{{', '}}']
    lines.push(`  ${node}${open}${reason}${close}`)
    for (const tool of from) lines.push(`  ${tool} ${arrow} ${node}`)
    for (const tool of to) lines.push(`  ${node} ${arrow} ${tool}`)
  }
  return lines
}

const codes = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(' ')

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
