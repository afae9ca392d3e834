import type { Json, JsonObject } from '../reward/index.js'
import type { Task } from './task.js'
import type { BoundValue, Place, ReadableCall } from './tool-call-format.js'

/** A value whose origin the assistant has to know: flags and null are no evidence of one. */
type Traced = string | number

/** The calls of a reference solution that one message makes. */
export type Block = readonly ReadableCall[]

interface Step {
  readonly index: number
  readonly call: ReadableCall
}

/**
 * Groups the ground truth's calls of a user turn into blocks. An assistant could write each block before it sees a result of the block.
 * A value that only a result of the same block contains becomes a reference.
 *
 * A call begins a new block if it takes such a value from a list with several entries, because its index would be a guess. It also does so
 * after a prerequisite, if the origin of a value is unknown.
 * @param results  results of all calls of the ground truth: JSON
 * @param fits     whether a block is short enough for one message
 */
export function blocksOf(
  task: Pick<Task, 'turns' | 'groundTruth' | 'system'>,
  results: readonly string[],
  turn: number,
  fits: (block: Block) => boolean,
): Block[] {
  const earlier = task.groundTruth.flatMap((call, i) => (call.turn < turn ? [results[i]!] : []))
  const seen = [task.system ?? '', ...task.turns.slice(0, turn + 1), ...earlier]
  const blocks: Block[] = []
  let steps: Step[] = []
  const close = (): void => {
    blocks.push(steps.map(({ call }) => call))
    seen.push(...steps.map(({ index }) => results[index]!))
    steps = []
  }
  for (const [index, truth] of task.groundTruth.entries()) {
    if (truth.turn !== turn) continue
    const made = steps.length === 0 ? null : continued(truth, steps, results, knownIn(seen))
    if (made && fits([...steps.map(({ call }) => call), made])) {
      steps.push({ index, call: made })
      continue
    }
    if (steps.length > 0) close()
    steps.push({ index, call: { name: truth.name, arguments: truth.arguments } })
  }
  if (steps.length > 0) close()
  return blocks
}

/** Returns a ground-truth call as a further call of a block; null if an assistant could not write it there. */
function continued(
  { name, arguments: args, after }: Task['groundTruth'][number],
  steps: readonly Step[],
  results: readonly string[],
  isKnown: (value: Traced) => boolean,
): ReadableCall | null {
  const depends = steps.some(({ index }) => after.includes(index))
  const parsed = steps.map(({ index }) => JSON.parse(results[index]!) as Json)
  const bound: BoundValue[] = []
  for (const { at, value } of leavesOf(args)) {
    if (isKnown(value)) continue
    const found = parsed.map((result) => leavesOf(result).filter((leaf) => leaf.value === value))
    const source = found.findIndex(
      (leaves, i) => after.includes(steps[i]!.index) && leaves.some(({ isOnly }) => isOnly),
    )
    if (source >= 0) {
      const path = found[source]!.find(({ isOnly }) => isOnly)!.at
      bound.push({ at, back: steps.length - source, path })
    } else if (depends || found.some((leaves) => leaves.length > 0)) return null
  }
  if (bound.length === 0) return { name, arguments: args }
  const places = new Set(bound.map(({ at }) => JSON.stringify(at)))
  return { name, arguments: emptied(args, [], places) as JsonObject, bound }
}

interface Leaf {
  readonly at: Place
  readonly value: Traced
  /** Whether no list on the way has further entries. */
  readonly isOnly: boolean
}

/** Returns the texts and numbers in a JSON value, from the outside to the inside. */
function leavesOf(root: Json): Leaf[] {
  const leaves: Leaf[] = []
  let level: { readonly at: Place; readonly value: Json; readonly isOnly: boolean }[] = [
    { at: [], value: root, isOnly: true },
  ]
  while (level.length > 0) {
    for (const { at, value, isOnly } of level)
      if (typeof value === 'string' || typeof value === 'number') leaves.push({ at, value, isOnly })
    level = level.flatMap(({ at, value, isOnly }) => {
      if (typeof value !== 'object' || value === null) return []
      if (Array.isArray(value))
        return value.map((item: Json, i) => ({ at: [...at, i], value: item, isOnly: isOnly && value.length === 1 }))
      return Object.entries(value as JsonObject).map(([key, item]) => ({ at: [...at, key], value: item, isOnly }))
    })
  }
  return leaves
}

const NUMBERS = /-?\d+(?:\.\d+)?/g

/** Returns whether texts that the assistant has read contain a value: a text anywhere, a number as a whole. */
function knownIn(texts: readonly string[]): (value: Traced) => boolean {
  const numbers = new Set(texts.flatMap((text) => text.match(NUMBERS) ?? []).map(Number))
  return (value) => {
    if (typeof value === 'number') return numbers.has(value)
    const written = JSON.stringify(value).slice(1, -1)
    return texts.some((text) => text.includes(value) || text.includes(written))
  }
}

/** Replaces the values at these places by null. */
function emptied(value: Json, at: Place, places: ReadonlySet<string>): Json {
  if (places.has(JSON.stringify(at))) return null
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item: Json, i) => emptied(item, [...at, i], places))
  return Object.fromEntries(
    Object.entries(value as JsonObject).map(([key, item]) => [key, emptied(item, [...at, key], places)]),
  )
}
