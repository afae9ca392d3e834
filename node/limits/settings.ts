import { availableParallelism } from 'node:os'
import { z } from 'zod'
import { hoursSchema } from './hours.js'

const MOST = {
  /** Most sequences in one context of llama.cpp, and more threads than help on any machine. */
  count: 256,
  /** More than any machine has. */
  gibibytes: 1024 * 1024,
  /** At this rate a chunk of 1 MiB arrives before a download counts as stalled. */
  leastKibibytesPerSecond: 32,
  kibibytesPerSecond: 16 * 1024 * 1024,
} as const

const count = z.int().min(1).max(MOST.count)
const gibibytes = z.number().min(0.1).max(MOST.gibibytes)
const rate = z.number().min(MOST.leastKibibytesPerSecond).max(MOST.kibibytesPerSecond)

/** Resources that the node may use, and when. A missing limit has its value in `DEFAULTS`, or does not apply. */
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
  maxTemperature: z.number().min(30).max(120).optional(),
})

export type LimitSettings = z.output<typeof limitSettings>
export type LimitName = keyof LimitSettings

/** Values of limits that are not set. */
export const DEFAULTS = { threads: 1, slots: 16, priority: 'low', gpu: 'auto' } as const satisfies LimitSettings

/** Description of a limit for the command line and the guide. */
export interface LimitField {
  readonly name: LimitName
  /** Placeholder of the option's value; null: the option has no value. */
  readonly placeholder: string | null
  readonly meaning: string
  /** Allowed values, as the end of a sentence that begins with "Give". */
  readonly expects: string
  /** Converts text of the command line, before the value is checked. */
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

/** All limits, in the order of the output. */
export const LIMIT_FIELDS: readonly LimitField[] = [
  field(
    'threads',
    '<number>',
    'CPU threads of each engine',
    whole,
    numeral,
    (n) => `${n} of ${availableParallelism()} CPU threads`,
  ),
  field(
    'slots',
    '<number>',
    'sequences that an engine generates in parallel',
    whole,
    numeral,
    (n) => `${n} rollouts at a time`,
  ),
  field(
    'priority',
    '<level>',
    'priority of the process: lowest, low or normal',
    'lowest, low or normal',
    String,
    (level) => `${level} priority`,
  ),
  field(
    'gpu',
    '<which>',
    'GPU to use: auto, none or a number',
    'auto, none or the number of a GPU',
    (text) => (/^\d+$/.test(text) ? Number(text) : text),
    (which) => (which === 'none' ? 'no GPU' : which === 'auto' ? 'any GPU' : `GPU ${which}`),
  ),
  field(
    'gpuMemory',
    '<percent>',
    "share of the GPU's memory to use",
    span(1, 100),
    numeral,
    (share) => `${share} % of the GPU's memory`,
  ),
  field(
    'memory',
    '<GiB>',
    "main memory for inference with the model; default: three quarters of the machine's",
    gib,
    numeral,
    (n) => `${n} GiB of memory`,
  ),
  field('disk', '<GiB>', 'pause while the data folder is larger', gib, numeral, (n) => `${n} GiB of disk`),
  field('upload', '<KiB/s>', 'rate at which adapters are sent', kib, numeral, (n) => `${n} KiB/s up`),
  field('download', '<KiB/s>', 'average rate at which adapters are fetched', kib, numeral, (n) => `${n} KiB/s down`),
  field(
    'traffic',
    '<GiB>',
    'pause when the traffic of a month in both directions is larger',
    gib,
    numeral,
    (n) => `${n} GiB a month`,
  ),
  field(
    'hours',
    '<times>',
    'working hours in local time, for example 22:00-07:00,12:00-13:00',
    'spans such as 22:00-07:00, separated by commas',
    (text) => text.split(','),
    (spans) => `at ${spans.join(', ')}`,
  ),
  field('mains', null, 'pause on battery', 'on or off', yes, (on) => (on ? 'not on battery' : 'also on battery')),
  field(
    'idle',
    '<minutes>',
    'pause until the machine was unused for this long',
    span(1, 1440),
    numeral,
    (n) => `when unused for ${n} min`,
  ),
  field('gpuFree', null, 'pause while another program uses the GPU', 'on or off', yes, (on) =>
    on ? 'when no other program uses the GPU' : 'also with other programs on the GPU',
  ),
  field('maxTemperature', '<celsius>', 'pause above this temperature', span(30, 120), numeral, (n) => `below ${n} °C`),
]

/** Returns the option of a limit: `gpu-free` for `gpuFree`. */
export const optionOf = (name: LimitName): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)

/** Describes the limits in force. */
export const describeLimits = (settings: LimitSettings): string[] =>
  LIMIT_FIELDS.flatMap(({ name, describe }) => {
    const value = settings[name]
    return value === undefined || value === false ? [] : [describe(value as never)]
  })
