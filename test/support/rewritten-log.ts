import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openEventLog, writeEventLog } from '../../coordinator/ledger/event-log.js'
import type { RunEvent } from '../../coordinator/ledger/events.js'
import { chain, LOG_START } from '../../coordinator/ledger/log-chain.js'
import { headFileOf } from '../../coordinator/ledger/log-head.js'

/**
 * Replaces the log of a stopped coordinator by another one with a fresh chain and head, as its operator can.
 * @param change  returns the event that replaces another one; null: the event is left out
 */
export async function rewriteLog(dataDir: string, change: (event: RunEvent) => RunEvent | null): Promise<void> {
  const [before, after] = [join(dataDir, 'log'), join(dataDir, 'log-rewritten')]
  const log = await openEventLog(before)
  const records = async function* () {
    let end = LOG_START
    for await (const event of log.replay()) {
      const changed = change(event)
      if (changed === null) continue
      const link = chain(end, changed)
      end = link.head
      yield link.record
    }
  }
  await writeEventLog(after, records())
  await log.close()
  for (const path of [before, headFileOf(before), join(dataDir, 'log.checkpoint')])
    await rm(path, { recursive: true, force: true })
  await rename(after, before)
  await rename(headFileOf(after), headFileOf(before))
}
