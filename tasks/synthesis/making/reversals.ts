import { entityKinds, hasEffect, requiredReferences, type Session } from '../../../servers/kernel/index.js'
import type { Node, ToolGraph } from '../graph.js'
import { itemAt } from '../item-at.js'
import { oncePer } from '../once-per.js'
import type { Open, Reversal, Step } from './step.js'

/** A row of an environment by table and key. */
type RowName = string
type Rows = ReadonlyMap<RowName, Readonly<Record<string, unknown>>>

/** Change of one row by a writing call. */
export interface Change {
  readonly before: Readonly<Record<string, unknown>> | undefined
  readonly after: Readonly<Record<string, unknown>> | undefined
}

interface Done {
  readonly step: Step
  readonly changes: ReadonlyMap<RowName, Change>
}

/**
 * Returns where one call of a chain takes back what an earlier one did: no person orders both at once. The rows show it in one of these
 * ways:
 *
 * - a thing that the earlier call made and reported is gone, or named, after a call that ends things;
 * - a thing that the earlier call changed is ended;
 * - a thing that the earlier call removed is back;
 * - every field that the earlier call changed is as before.
 *
 * A thing that goes into something new, such as a cart into an order, is not taken back.
 */
export function reversalsIn(steps: readonly Step[], open: Open): Reversal[] {
  const writing = steps.filter(({ tool }) => !tool.annotations.readOnly)
  if (new Set(writing.map(({ environment }) => environment)).size === writing.length) return []
  const found: Reversal[] = []
  const sessionOf = oncePer(open)
  const done: Done[] = []
  for (const [later, step] of steps.entries()) {
    const session = sessionOf(step.environment)
    const before = step.tool.annotations.readOnly ? undefined : session.fork()
    session.call(step.tool.name, step.args)
    if (!before) continue
    const changes = changesBetween(before, session)
    const rows = rowsOf(session, new Set(done.flatMap((earlier) => [...earlier.changes.keys()])))
    for (const earlier of done) {
      if (earlier.step.environment === step.environment && takesBack(step, changes, rows, earlier))
        found.push({ earlier: steps.indexOf(earlier.step), later })
    }
    done.push({ step, changes })
  }
  return found
}

/**
 * Returns whether the tool of a step can be used on nothing but what the conversation made. Either no look-up of its environment shows such
 * things, or the tool takes none and needs a fact that a call makes true. An example is a coupon that is to be taken off. Then people do
 * take back what they did, in a separate turn.
 */
export function hasNoOtherUse({ environment, tool }: Step): boolean {
  const kinds = requiredReferences(tool.input).map(([, kind]) => kind)
  if (kinds.length === 0) return (tool.needs ?? []).length > 0
  const shown = environment.tools
    .filter(({ annotations }) => annotations.readOnly)
    .map(({ output }) => entityKinds(output))
  return kinds.some((kind) => shown.every((known) => !known.has(kind)))
}

/** Whether a call that is to change something leaves every row as it was: a window that is shut is not asked to be shut. */
export function isIdle(steps: readonly Step[], open: Open): boolean {
  const sessionOf = oncePer(open)
  return steps.some(({ environment, tool, args }) => {
    const session = sessionOf(environment)
    const before = tool.annotations.readOnly ? undefined : session.fork()
    session.call(tool.name, args)
    if (!before) return false
    return [...changesBetween(before, session).values()].every((change) => isSame(change.before, change.after))
  })
}

/**
 * Returns whether no call leads to a tool, and the tool leads only to calls that end or renew what it made. For example, a listing is made,
 * and later taken off again.
 */
export function leadsOnlyBack(node: Node, graph: ToolGraph): boolean {
  const own = graph.fromWithin(node)
  return graph.into(node).length === 0 && own.every(({ to }) => hasEffect(to, 'ends') || hasEffect(to, 'renews'))
}

function takesBack(
  step: Step,
  changes: ReadonlyMap<RowName, Change>,
  rows: Rows,
  { step: { output }, changes: earlier }: Done,
): boolean {
  const named = new Set(Object.values(step.args))
  const ends = hasEffect(step, 'ends')
  const stated = Object.values(output)
  return [...earlier].some(([name, { before, after }]) => {
    const now = rows.get(name)
    if (!before) return ends && stated.includes(keyOf(name)) && (!now || named.has(keyOf(name)))
    // Nobody sends an invoice and voids it, or moves a meeting and calls it off, in one breath.
    if (ends && named.has(keyOf(name))) return true
    if (!changes.has(name)) return false
    if (!after || !now) return now !== undefined && !makes(earlier)
    const changed = Object.keys(after).filter((field) => !isSame(before[field], after[field]))
    return changed.every((field) => isSame(before[field], now[field]))
  })
}

const keyOf = (name: RowName): string => name.slice(name.indexOf(' ') + 1)

const makes = (changes: ReadonlyMap<RowName, Change>): boolean => [...changes.values()].some(({ before }) => !before)

const isSame = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b)

/** The rows in which two states of an environment differ. */
export function changesBetween(before: Session, after: Session): Map<RowName, Change> {
  const changes = new Map<RowName, Change>()
  for (const { db } of [before, after])
    for (const table of Object.keys(db))
      for (const key of itemAt(db, table).writtenKeys()) {
        const [old, now] = [itemAt(before.db, table).get(key), itemAt(after.db, table).get(key)]
        if (old !== now) changes.set(`${table} ${key}`, { before: old, after: now })
      }
  return changes
}

function rowsOf({ db }: Session, names: ReadonlySet<RowName>): Rows {
  const found = new Map<RowName, Readonly<Record<string, unknown>>>()
  for (const name of names) {
    const blank = name.indexOf(' ')
    const row = db[name.slice(0, blank)]?.get(keyOf(name))
    if (row) found.set(name, row)
  }
  return found
}
