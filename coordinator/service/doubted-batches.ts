import type { Clock } from '../../swarm/index.js'
import type { Recorder } from '../ledger/recorder.js'

/** Records the batches with unaudited groups of keys that were caught later. */
export async function nameDoubtedBatches(recorder: Recorder, clock: Pick<Clock, 'now'>): Promise<void> {
  const names = recorder.state.doubtedBatches.map(({ batchId, node }) =>
    recorder.record((state) => {
      const doubted = state.doubtedBatches.find((one) => one.batchId === batchId && one.node === node)
      return doubted ? { type: 'batch-doubted', atMs: clock.now(), ...doubted } : null
    }),
  )
  await Promise.all(names)
}
