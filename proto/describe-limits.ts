import { LIMITS, type Limit } from './limits.js'

/** Renders `docs/reference/limits.md`. */
export function describeLimits(): string {
  const rows = Object.entries(LIMITS).map(([name, limit]) => `| \`${name}\` | ${shown(limit)} | ${limit.meaning} |`)
  return `${HEAD}\n${rows.join('\n')}\n`
}

const HEAD = `# Limits of the protocol

This page is for authors of programs that take part in a run ([protocol](protocol.md)). \`npm run docs\` writes the page from \`proto/limits.ts\`. A receiver rejects a message above a limit. The limits are the same for every run.

| limit | value | of |
| --- | ---: | --- |`

const KIB = 1024
const BYTES: readonly Scale[] = [
  [KIB ** 3, 'GiB'],
  [KIB ** 2, 'MiB'],
  [KIB, 'KiB'],
  [1, 'B'],
]
const TIMES: readonly Scale[] = [
  [24 * 3_600_000, 'days'],
  [60_000, 'min'],
  [1000, 's'],
  [1, 'ms'],
]

type Scale = readonly [size: number, unit: string]

/** Returns a value in the largest unit that divides it. */
function shown({ value, unit }: Limit): string {
  const scales = unit === 'B' ? BYTES : unit === 'ms' ? TIMES : null
  const scale = scales?.find(([size]) => value % size === 0)
  if (scale) return `${counted(value / scale[0])} ${scale[1]}`
  if (unit === 'per minute') return `${counted(value)} a minute`
  return unit === 'tokens' || unit === 'nats' ? `${counted(value)} ${unit}` : counted(value)
}

const counted = (value: number): string => value.toLocaleString('en')
