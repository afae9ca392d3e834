import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { hoursSchema } from './hours.js'

const MOST = {
  /** As many sequences as one context of llama.cpp can hold, and more threads than any machine gains by. */
  count: 256,
  /** More than any machine has. */
  gibibytes: 1024 * 1024,
  /** A chunk of 1 MiB must come within the time after which a download counts as stalled. */
  leastKibibytesPerSecond: 32,
  kibibytesPerSecond: 16 * 1024 * 1024,
} as const

const count = z.int().min(1).max(MOST.count)
const gibibytes = z.number().min(0.1).max(MOST.gibibytes)
const rate = z.number().min(MOST.leastKibibytesPerSecond).max(MOST.kibibytesPerSecond)

/** What a volunteer lets the node have of the machine, and when. What is left out is not limited, or as `DEFAULTS` says. */
export const limitSettings = z.strictObject({
  threads: count.optional(),
  slots: count.optional(),
  priority: z.enum(['lowest', 'low', 'normal']).optional(),
  gpu: z.union([z.enum(['auto', 'none']), z.int().min(0).max(63)]).optional(),
  gpuMemory: z.number().min(1).max(100).optional(),
  memory: gibibytes.optional(),
  disk: gibibytes.optional(),
  upload: rate.optional(),
  download: rate.optional(),
  traffic: gibibytes.optional(),
  hours: hoursSchema.optional(),
  mains: z.boolean().optional(),
  idle: z.number().min(1).max(1440).optional(),
  gpuFree: z.boolean().optional(),
  temperature: z.number().min(30).max(120).optional(),
})

export type LimitSettings = z.output<typeof limitSettings>
export type LimitName = keyof LimitSettings

export const DEFAULTS = { threads: 1, slots: 16, priority: 'low', gpu: 'auto' } as const satisfies LimitSettings

/** One limit as the command line and the guide have it. */
export interface LimitField {
  readonly name: LimitName
  /** Of the command line's option; null: it takes no value there. */
  readonly placeholder: string | null
  readonly meaning: string
  /** What may be given, as the end of a sentence that begins with "Give". */
  readonly expects: string
  /** Text of the command line as the value to be checked. */
  read(text: string): unknown
  describe(value: never): string
}

const field = <N extends LimitName>(
  name: N,
  placeholder: string | null,
  meaning: string,
  expects: string,
  read: (text: string) => unknown,
  describe: (value: NonNullable<LimitSettings[N]>) => string,
): LimitField => ({ name, placeholder, meaning, expects, read, describe })

const numeral = (text: string): unknown => (text.trim() === '' ? text : Number(text))
const yes = (text: string): unknown =>
  ({ on: true, true: true, yes: true, off: false, false: false, no: false })[text] ?? text
const span = (least: number, most: number): string => `a number from ${least} to ${most}`
const gib = span(0.1, MOST.gibibytes)
const kib = span(MOST.leastKibibytesPerSecond, MOST.kibibytesPerSecond)
const whole = `an integer from 1 to ${MOST.count}`

/** Every limit, in the order in which it is shown. */
export const LIMIT_FIELDS: readonly LimitField[] = [
  field(
    'threads',
    '<number>',
    'CPU threads for inference',
    whole,
    numeral,
    (n) => `${n} of ${availableParallelism()} CPU threads`,
  ),
  field('slots', '<number>', 'rollouts generated in parallel', whole, numeral, (n) => `${n} rollouts at a time`),
  field(
    'priority',
    '<level>',
    'among the programs of this machine: lowest, low or normal',
    'lowest, low or normal',
    String,
    (level) => `${level} priority`,
  ),
  field(
    'gpu',
    '<which>',
    'auto, none, or the number of the only GPU to use',
    'auto, none or the number of a GPU',
    (text) => (/^\d+$/.test(text) ? Number(text) : text),
    (which) => (which === 'none' ? 'no GPU' : which === 'auto' ? 'any GPU' : `GPU ${which}`),
  ),
  field(
    'gpuMemory',
    '<percent>',
    "share of the GPU's memory",
    span(1, 100),
    numeral,
    (share) => `${share} % of the GPU's memory`,
  ),
  field(
    'memory',
    '<GiB>',
    "main memory of inference, the model included; otherwise three quarters of the machine's",
    gib,
    numeral,
    (n) => `${n} GiB of memory`,
  ),
  field('disk', '<GiB>', 'what the data folder may hold', gib, numeral, (n) => `${n} GiB of disk`),
  field('upload', '<KiB/s>', 'what others are sent of adapters', kib, numeral, (n) => `${n} KiB/s up`),
  field('download', '<KiB/s>', 'what is fetched of adapters, on average', kib, numeral, (n) => `${n} KiB/s down`),
  field('traffic', '<GiB>', 'both ways in a month', gib, numeral, (n) => `${n} GiB a month`),
  field(
    'hours',
    '<times>',
    'when to work, by the clock of this place, for example 22:00-07:00,12:00-13:00',
    'spans such as 22:00-07:00, separated by commas',
    (text) => text.split(','),
    (spans) => `at ${spans.join(', ')}`,
  ),
  field('mains', null, 'not on battery', 'on or off', yes, (on) => (on ? 'not on battery' : 'also on battery')),
  field(
    'idle',
    '<minutes>',
    'rest until nobody has used the machine for so long',
    span(1, 1440),
    numeral,
    (n) => `when nobody used it for ${n} min`,
  ),
  field('gpuFree', null, 'rest while another program uses the GPU', 'on or off', yes, (on) =>
    on ? 'when no other program uses the GPU' : 'also beside others on the GPU',
  ),
  field('temperature', '<celsius>', 'rest above it', span(30, 120), numeral, (n) => `below ${n} °C`),
]

/** As an option of the command line: `gpuFree` is `--gpu-free`. */
export const optionOf = (name: LimitName): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** The limits in force, each in some words. */
export const describeLimits = (settings: LimitSettings): string[] =>
  LIMIT_FIELDS.flatMap(({ name, describe }) => {
    const value = settings[name]
    return value === undefined || value === false ? [] : [describe(value as never)]
  })
