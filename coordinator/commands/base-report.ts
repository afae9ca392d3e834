import { relative } from 'node:path'
import type { FormatFit } from '../../rollout/episode/index.js'
import type { PreparedBase, TrainingCosts } from '../jobs/prepare-base.js'
import type { BaseFacts } from '../settings/base-facts.js'
import { sizeOf } from '../settings/learning-rates.js'

/** Everything that the command found out about a base. */
export interface FoundBase {
  readonly path: string
  readonly facts: BaseFacts
  /** The recommended format, and others that fit. */
  readonly formats: readonly [FormatFit, ...FormatFit[]]
  readonly specialTokens: readonly string[]
  readonly prepared: PreparedBase
  /** Main memory of a volunteer without a GPU, in bytes, by the engine's estimate. */
  readonly memory: {
    readonly contextSize: number
    readonly oneSlot: number
    readonly group: number
    readonly groupSize: number
  }
  /** Chat template that replaced the file's. */
  readonly template: string | null
}

/** Returns the text of `prove-coordinator base` for a person. */
export function baseReport(found: FoundBase): string {
  const { facts, formats, prepared, memory, specialTokens, template } = found
  const [format, ...others] = formats
  const types = Object.entries(prepared.types).map(([type, count]) => `${count} ${type}`)
  const context = memory.contextSize.toLocaleString('en')
  const rows: [name: string, value: string][] = [
    ['file', `${shownPath(found.path)}, ${gib(prepared.bytes)}`],
    ['SHA-256', prepared.sha256],
    ['name', facts.name ?? 'none in the file'],
    ['architecture', facts.architecture],
    ['parameters', `${sizeOf(facts.parameters)} (${facts.parameters.toLocaleString('en')})`],
    ['layers', `${facts.layers} of width ${facts.width}, ${facts.heads} heads, ${facts.keyHeads} of keys and values`],
    ['context', `${facts.context.toLocaleString('en')} tokens`],
    [
      'vocabulary',
      `${facts.vocabulary.toLocaleString('en')} tokens: ${specialTokens.join(', ') || 'no special tokens'}`,
    ],
    ['quantisation', `${facts.quantisation ?? 'unknown'} (${types.join(', ')})`],
    ['chat template', template ?? 'that of the file'],
    [
      'tool-call format',
      `${format.name}${others.length === 0 ? '' : ` (fits too: ${others.map(({ name }) => name).join(', ')})`}`,
    ],
    ['training', `${trainingOf(prepared.memory.float32, memory.contextSize)} in float32`],
    ['', `${trainingOf(prepared.memory.bfloat16, memory.contextSize)} in bfloat16`],
    ['', `for rollouts of ${context} tokens with checkpointing, LoRA of rank 16`],
    [
      'a volunteer',
      `${gib(memory.oneSlot)} for one rollout of ${context} tokens, ${gib(memory.group)} for ${memory.groupSize} at a time`,
    ],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  const lines = rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`)
  const notes = format.note === null ? [] : ['', `The chat template fits, but ${format.note}.`]
  return `${[...lines, ...notes].join('\n')}\n`
}

const trainingOf = ({ baseBytes, adapterBytes, fixedBytes, bytesPerToken }: TrainingCosts, tokens: number): string =>
  gib(baseBytes + adapterBytes + fixedBytes + bytesPerToken * tokens)

const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(2)} GiB`

const shownPath = (path: string): string => {
  const near = relative(process.cwd(), path)
  return near.startsWith('..') ? path : near
}
