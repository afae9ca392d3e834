import { createHash } from 'node:crypto'
import { isBefore, packageVersion } from '../../common/cli/index.js'
import { parseEvent, type RunEvent } from './events.js'
import { StoreError } from './store-error.js'

/** A place in a log: how many events lie before it, and the hash that covers all of them. */
export interface LogHead {
  readonly count: number
  /** SHA-256, hex. */
  readonly hash: string
}

export interface Link {
  /** The event as the log stores it: one line of JSON, without its end. */
  readonly record: string
  readonly event: RunEvent
  /** The place behind the event. */
  readonly head: LogHead
}

/** Why a stored record is not the next of its log. `unknown`: it is, and no event that this version knows. */
export type ChainFault = 'damaged' | 'another' | 'unknown'

/** The place before the first event. Its hash keeps the chain apart from whatever else is hashed. */
export const LOG_START: LogHead = {
  count: 0,
  hash: createHash('sha256').update('prove event log 1\n').digest('hex'),
}

const RECORD = /^\{"hash":"([0-9a-f]{64})","event":(.*)\}$/s

/**
 * The hash of an event covers the hash before it and the event's text as it is stored, so that whoever has the records can
 * check them without knowing how JSON is written canonically.
 */
function hashOf(before: LogHead, text: string): string {
  return createHash('sha256').update(Buffer.from(before.hash, 'hex')).update(text).digest('hex')
}

export function chain(before: LogHead, event: RunEvent): Link {
  const text = JSON.stringify(event)
  const hash = hashOf(before, text)
  return { record: `{"hash":"${hash}","event":${text}}`, event, head: { count: before.count + 1, hash } }
}

/**
 * Checks that a stored record is the one that was written behind `before`.
 * @throws StoreError `newer_version` at an event from which on the log is for later versions of this program
 */
export function followChain(before: LogHead, record: string): Link | ChainFault {
  const [, hash, text] = RECORD.exec(record) ?? []
  if (hash === undefined || text === undefined) return 'damaged'
  if (hash !== hashOf(before, text)) return 'another'
  const event = parseEvent(jsonOf(text))
  if (!event) return 'unknown'
  checkVersion(event)
  return { record, event, head: { count: before.count + 1, hash } }
}

function checkVersion(event: RunEvent): void {
  if (event.type !== 'written-by') return
  const version = packageVersion()
  if (!isBefore(version, event.needs)) return
  throw new StoreError(
    'newer_version',
    `the log was written by prove-swarm ${event.program}, and reading it takes ${event.needs} or newer; this is ${version}. Nothing is damaged: install the newer program.`,
  )
}

/** Throws as `followChain` does, for a record whose place in the chain is not known. @throws StoreError `newer_version` */
export function checkVersionIn(record: string): void {
  const event = parseEvent(jsonOf(RECORD.exec(record)?.[2] ?? ''))
  if (event) checkVersion(event)
}

/** The hash that a stored record names, unchecked; undefined for what is no record. */
export const namedHash = (record: string): string | undefined => RECORD.exec(record)?.[1]

/** Whether a record is a bare event: once, logs had no chain. */
export const isUnchained = (record: string): boolean => !RECORD.test(record) && parseEvent(jsonOf(record)) !== undefined

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
