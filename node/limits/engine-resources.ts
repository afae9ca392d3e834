import type { EngineResources } from '../../rollout/engine/index.js'
import { DEFAULTS, type LimitSettings } from './settings.js'

/** Returns the resources that the engine may use under these limits. */
export function resourcesOf({ threads, slots, gpu, gpuMemory, memory }: LimitSettings): EngineResources {
  return {
    threads: threads ?? DEFAULTS.threads,
    slots: slots ?? DEFAULTS.slots,
    gpu: gpu === 'none' ? false : 'auto',
    ...(typeof gpu === 'number' ? { gpuDevice: gpu } : {}),
    ...(gpuMemory === undefined ? {} : { gpuMemoryShare: gpuMemory / 100 }),
    ...(memory === undefined ? {} : { memoryLimitBytes: Math.round(memory * 2 ** 30) }),
  }
}
