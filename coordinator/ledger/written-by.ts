import { packageVersion } from '../../common/cli/index.js'
import type { Clock } from '../../swarm/index.js'
import { LOG_NEEDS } from './events.js'
import type { Recorder } from './recorder.js'

/** Records which version of the program writes the log from here on, if it has changed. */
export async function noteProgram(recorder: Recorder, clock: Pick<Clock, 'now'>): Promise<void> {
  const program = packageVersion()
  await recorder.record((state) =>
    state.writtenBy === program ? null : { type: 'written-by', atMs: clock.now(), program, needs: LOG_NEEDS },
  )
}
