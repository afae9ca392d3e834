import { join } from 'node:path'
import type { ControlClient } from '../../common/control/index.js'
import { LAST_GROUP, LEDGERS, packedGroup } from '../session/routes.js'
import {
  type LastGroup,
  lastGroupFrame,
  type RunLedger,
  readLastGroup,
  readLedgers,
  runLedger,
} from '../store/records.js'
import { openNodeStores } from '../store/store.js'
import { findNode } from './running-node.js'

// The records are read from a running node over its socket, because only the node may open them; otherwise from the data folder.

/** Returns the records of all runs. @throws NodeError `nothing_kept`, `unreadable`; ControlError */
export async function ledgersOf(dataDir: string): Promise<RunLedger[]> {
  const node = await findNode(dataDir)
  if (node === null) return withStores(dataDir, readLedgers)
  return (await answers(node, LEDGERS)).map((answer) => runLedger.parse(answer))
}

/** Returns the newest group with a verdict; null: no group has one yet. @throws NodeError `nothing_kept`, `unreadable`; ControlError */
export async function lastGroupOf(dataDir: string): Promise<LastGroup | null> {
  const node = await findNode(dataDir)
  if (node === null) return withStores(dataDir, readLastGroup)
  const [answer] = (await answers(node, LAST_GROUP)) as { group?: unknown }[]
  if (answer === undefined) return null
  const { group, ...frame } = answer
  return { ...lastGroupFrame.parse(frame), group: packedGroup.parse(group) }
}

async function answers(node: ControlClient, path: string): Promise<unknown[]> {
  const values: unknown[] = []
  for await (const line of node.lines(path)) values.push(JSON.parse(line))
  return values
}

type Stores = Awaited<ReturnType<typeof openNodeStores>>['stores']

async function withStores<T>(dataDir: string, read: (stores: Stores) => Promise<T>): Promise<T> {
  const opened = await openNodeStores(join(dataDir, 'store'))
  try {
    return await read(opened.stores)
  } finally {
    await opened.close()
  }
}
