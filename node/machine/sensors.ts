import { readMains, readProcessorHeat } from './battery-and-heat.js'
import { folderSize } from './folder-size.js'
import type { Sensors } from './machine-watch.js'
import { readGpuHeat, readOthersOnGpu } from './nvidia.js'
import { known } from './sensor-reading.js'
import { readUserIdle } from './user-idle.js'

/** The sensors of this machine. @param enginePid  of the engine's process, which is no other program on the GPU */
export const sensorsHere = (dataDir: string, enginePid: () => number | undefined): Sensors => ({
  mains: readMains,
  async celsius() {
    const [processor, gpu] = await Promise.all([readProcessorHeat(), readGpuHeat()])
    const values = [processor, gpu].flatMap((told) => (told.known ? [told.value] : []))
    return values.length > 0 ? known(Math.max(...values)) : processor
  },
  idleMs: () => readUserIdle(Date.now()),
  othersOnGpu: () => readOthersOnGpu(enginePid()),
  dataBytes: async () => known(await folderSize(dataDir)),
})
