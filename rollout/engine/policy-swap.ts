import { killUnlessSettled } from './child-watch.js'
import { SWAP_TIMEOUT_MS } from './constants.js'
import { EngineError } from './errors.js'
import { abortable } from './fair-lock.js'
import type { GgufHeader } from './gguf.js'
import type { Hold } from './jobs.js'
import { checkAdapter } from './request-checks.js'
import type { Running, Supervisor } from './supervisor.js'
import type { AdapterFile } from './types.js'

export interface PolicySwap {
  readonly supervisor: Supervisor
  /** Header of the base model, which the adapter must fit. */
  readonly base: GgufHeader
  /** Adapters one process may load before it is replaced. */
  readonly recycleAfterSwaps: number
}

/**
 * Switches to an adapter, or with null to the bare base, in the running process if possible, else in a new one.
 * @throws EngineError `adapter_refused`; the previous policy stays active
 */
export async function swapPolicy(
  { supervisor, base, recycleAfterSwaps }: PolicySwap,
  adapter: AdapterFile | null,
  signal: AbortSignal,
  hold: Hold,
): Promise<void> {
  const { running, policy } = supervisor
  if (running !== null && adapter?.path === policy?.path && adapter?.sha256 === policy?.sha256) return
  if (adapter !== null) await checkAdapter(adapter, base, signal)
  // The process may have ended while the file was read.
  const now = supervisor.running
  if (now === null || mustRecycle(now, adapter, recycleAfterSwaps)) {
    await now?.child.stop()
    supervisor.policy = adapter
    try {
      await supervisor.start(signal)
    } catch (error) {
      supervisor.policy = policy
      throw error
    }
    return
  }
  const { child, loaded } = now
  const { answer } = child.request({ kind: 'swap', adapter: adapter && (await child.provideAdapter(adapter)) })
  killUnlessSettled(child, answer, SWAP_TIMEOUT_MS)
  const swapped = answer.then(
    () => {
      supervisor.policy = adapter
      if (adapter !== null) loaded.set(adapter.path, adapter.sha256)
    },
    (error: unknown) => {
      // After a refused adapter the previous one is active. After any other error the process has no context.
      if (!(error instanceof EngineError && error.code === 'adapter_refused')) child.kill()
      throw error
    },
  )
  hold(swapped)
  await abortable(swapped, signal)
}

/** Whether the process must be replaced. llama.cpp caches adapters by path: it would not read another file at a known path. */
function mustRecycle({ loaded }: Running, adapter: AdapterFile | null, recycleAfterSwaps: number): boolean {
  if (adapter === null) return false
  const known = loaded.get(adapter.path)
  return known === undefined ? loaded.size >= recycleAfterSwaps : known !== adapter.sha256
}
