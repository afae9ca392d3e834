import { z } from 'zod'
import {
  type CommonValue,
  dependencyGraph,
  type Environment,
  entityKinds,
  isOptional,
  meaningOf,
  type RequiredReference,
  requiredReferences,
  type ToolDefinition,
} from './index.js'

/** A tool and its environment. */
export interface Node<E extends Environment = Environment> {
  readonly environment: E
  readonly tool: ToolDefinition
}

/** An edge of the dependency graph over all environments: within one (paper, section 3.2), or across two by a common value. */
export interface Link<E extends Environment = Environment> {
  readonly from: Node<E>
  readonly to: Node<E>
  readonly kind: 'explicit' | 'implicit' | 'cross-environment'
  /** The entity, fact or common value that makes the edge. */
  readonly through: string
}

/** The dependency graph over several environments. */
export interface ToolGraph<E extends Environment = Environment> {
  readonly nodes: readonly Node<E>[]
  readonly links: readonly Link<E>[]
  /** Links that begin at a node. */
  from(node: Node<E>): readonly Link<E>[]
  /** Links that end at a node. */
  into(node: Node<E>): readonly Link<E>[]
  /** `from` without links across environments, which are ten times as many. */
  fromWithin(node: Node<E>): readonly Link<E>[]
  /** `into` without links across environments. */
  intoWithin(node: Node<E>): readonly Link<E>[]
}

/** Joins the dependency graphs of environments where a city, address or date of one is an input of another. */
export function toolGraph<E extends Environment>(environments: readonly E[]): ToolGraph<E> {
  const nodes = environments.flatMap((environment) => environment.tools.map((tool) => ({ environment, tool })))
  const byName = new Map(nodes.map((node) => [nodeName(node), node]))
  const within = environments.flatMap((environment) =>
    dependencyGraph(environment).edges.map((edge): Link<E> => {
      const from = byName.get(`${environment.name}:${edge.from}`)!
      const to = byName.get(`${environment.name}:${edge.to}`)!
      return { from, to, kind: edge.kind, through: edge.kind === 'explicit' ? edge.entity : edge.fact }
    }),
  )
  const required = nodes.map((to) => ({ to, values: [...commonRequired(to.tool)] }))
  const across = nodes.flatMap((from) => {
    const stated = commonStated(from.tool.output)
    return required.flatMap(({ to, values }) =>
      values.flatMap((through): Link<E>[] =>
        from.environment !== to.environment && stated.has(through)
          ? [{ from, to, kind: 'cross-environment', through }]
          : [],
      ),
    )
  })
  const links = [...within, ...across]
  return {
    nodes,
    links,
    from: byEnd(links, 'from'),
    into: byEnd(links, 'to'),
    fromWithin: byEnd(within, 'from'),
    intoWithin: byEnd(within, 'to'),
  }
}

function byEnd<E extends Environment>(
  links: readonly Link<E>[],
  end: 'from' | 'to',
): (node: Node<E>) => readonly Link<E>[] {
  const groups = new Map<Node<E>, Link<E>[]>()
  for (const link of links) {
    const group = groups.get(link[end])
    if (group) group.push(link)
    else groups.set(link[end], [link])
  }
  return (node) => groups.get(node) ?? []
}

/** Returns the name of a tool among several environments: `banking:freeze_card`. */
export const nodeName = ({ environment, tool }: Node): string => `${environment.name}:${tool.name}`

function commonRequired({ input }: ToolDefinition): Set<CommonValue> {
  return commonOf(Object.fromEntries(Object.entries(input.shape).filter(([, field]) => !isOptional(field))))
}

/** Common values that a result tells, at its top or of the entries of a list. */
function commonStated({ shape }: z.ZodObject): Set<CommonValue> {
  const entries = Object.values(shape).flatMap((field) => elementOf(field as z.ZodType) ?? [])
  return new Set([shape, ...entries.map((entry) => entry.shape)].flatMap((fields) => [...commonOf(fields)]))
}

/** Returns the schema of a list's entries, if the entries have several fields. */
export function elementOf(schema: unknown): z.ZodObject | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return elementOf(schema.unwrap())
  return schema instanceof z.ZodArray && schema.element instanceof z.ZodObject ? schema.element : undefined
}

function commonOf(shape: Readonly<Record<string, z.ZodType>>): Set<CommonValue> {
  return new Set(Object.values(shape).flatMap((field) => meaningOf(field).common ?? []))
}

/** Fields and kinds of the keys that a call of the tool must be given, except those that people call by their keys. */
export function lookedUp({ environment, tool }: Node, spokenKeys: boolean): readonly RequiredReference[] {
  if (spokenKeys) return []
  let needed = knownLookedUp.get(tool)
  if (!needed) {
    needed = requiredReferences(tool.input).filter(([, entity]) => !environment.entities[entity]?.sayable)
    knownLookedUp.set(tool, needed)
  }
  return needed
}

const knownLookedUp = new WeakMap<ToolDefinition, readonly RequiredReference[]>()

export const kindsGiven = ({ tool }: Node): ReadonlySet<string> => entityKinds(tool.output)
