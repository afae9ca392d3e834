import { createHash } from 'node:crypto'
import { isBefore, packageVersion } from '../../common/cli/index.js'
import { parseEvent, type RunEvent } from './events.js'
import { StoreError } from './store-error.js'

/** A place in a log: the number of events before it, and the hash that covers all of them. */
export interface LogHead {
  readonly count: number
  /** SHA-256, hex. */
  readonly hash: string
}

export interface Link {
  /** The event as the log stores it: one line of JSON, without the line break. */
  readonly record: string
  readonly event: RunEvent
  /** The place after the event. */
  readonly head: LogHead
}

/** Why a stored record is not the next one of its log. `unknown`: it is, but this version does not know the event. */
export type ChainFault = 'damaged' | 'another' | 'unknown'

/** The place before the first event. Its hash separates the chain from other hashes. */
export const LOG_START: LogHead = {
  count: 0,
  hash: createHash('sha256').update('prove event log 1\n').digest('hex'),
}

const RECORD = /^\{"hash":"([0-9a-f]{64})","event":(.*)\}$/s

/**
 * Returns the hash of an event. It covers the hash before it and the stored text of the event, so that records can be checked
 * without canonical JSON.
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
 * Checks that a stored record follows the place `before`.
 * @throws StoreError `newer_version` at an event from which on only later versions of this program can read the log
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
    `the log was written by prove-swarm ${event.program} and needs ${event.needs} or newer, but this is ${version}. The log is not damaged: install the newer program.`,
  )
}

/** Checks the version like `followChain`, for a record without its place in the chain. @throws StoreError `newer_version` */
export function checkVersionIn(record: string): void {
  const event = parseEvent(jsonOf(RECORD.exec(record)?.[2] ?? ''))
  if (event) checkVersion(event)
}

/** Returns the event of a stored record, without a check of its place in the chain; undefined if there is none. */
export const storedEvent = (record: string): RunEvent | undefined => parseEvent(jsonOf(RECORD.exec(record)?.[2] ?? ''))

/** Returns the hash that a stored record names, unchecked; undefined if the text is no record. */
export const namedHash = (record: string): string | undefined => RECORD.exec(record)?.[1]

/** Whether a record is a bare event of a log without a hash chain. */
export const isUnchained = (record: string): boolean => !RECORD.test(record) && parseEvent(jsonOf(record)) !== undefined

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
