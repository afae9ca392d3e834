import canonicalize from 'canonicalize'
import type { Example } from '../../dataset/example.js'
import { itemAt } from '../item-at.js'

/** Two examples whose calls agree more than this are duplicates (paper, section 3.2). */
export const MAX_JACCARD = 0.7

/**
 * Returns the features of an example's calls: each tool, each pair of consecutive tools, and each argument with its value. Examples without
 * calls have the word pairs of the request instead.
 */
export function traitsOf({ task }: Example): Set<string> {
  const traits = new Set<string>()
  if (task.groundTruth.length === 0) {
    const words =
      task.turns
        .join(' ')
        .toLowerCase()
        .match(/[\p{L}\p{N}]+/gu) ?? []
    for (const [i, word] of words.entries()) traits.add(`${words[i - 1] ?? ''} ${word}`)
    return traits
  }
  for (const [i, { name, arguments: args }] of task.groundTruth.entries()) {
    traits.add(name)
    traits.add(`${task.groundTruth[i - 1]?.name ?? ''}>${name}`)
    for (const [field, value] of Object.entries(args)) traits.add(`${name}.${field}=${canonicalize(value)}`)
  }
  return traits
}

/** Index of the kept examples that finds similar ones quickly. */
export interface DuplicateIndex {
  /** Keeps the example unless it is a duplicate of one that was kept. @returns whether it was kept */
  keep(example: Example): boolean
}

export function createDuplicateIndex(): DuplicateIndex {
  const sizes: number[] = []
  const postings = new Map<string, number[]>()
  const ids = new Set<string>()
  return {
    keep(example) {
      if (ids.has(example.task.id)) return false
      const traits = traitsOf(example)
      const shared = new Map<number, number>()
      for (const trait of traits) {
        for (const other of postings.get(trait) ?? []) shared.set(other, (shared.get(other) ?? 0) + 1)
      }
      for (const [other, count] of shared) {
        if (count / (traits.size + itemAt(sizes, other) - count) > MAX_JACCARD) return false
      }
      const place = sizes.push(traits.size) - 1
      for (const trait of traits) {
        const list = postings.get(trait)
        if (list) list.push(place)
        else postings.set(trait, [place])
      }
      ids.add(example.task.id)
      return true
    },
  }
}
