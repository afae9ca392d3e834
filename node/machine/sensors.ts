import { readMains, readProcessorHeat } from './battery-and-heat.js'
import { folderSize } from './folder-size.js'
import type { Sensors } from './machine-watch.js'
import { readGpuHeat, readOthersOnGpu } from './nvidia.js'
import { known } from './sensor-reading.js'
import { readUserIdle } from './user-idle.js'

/** Returns the sensors of this machine. @param enginePid  process id of the engine, which does not count as another program */
export const sensorsHere = (dataDir: string, enginePid: () => number | undefined): Sensors => ({
  mains: readMains,
  async celsius() {
    const [processor, gpu] = await Promise.all([readProcessorHeat(), readGpuHeat()])
    const values = [processor, gpu].flatMap((reading) => (reading.known ? [reading.value] : []))
    return values.length > 0 ? known(Math.max(...values)) : processor
  },
  idleMs: () => readUserIdle(Date.now()),
  othersOnGpu: () => readOthersOnGpu(enginePid()),
  dataBytes: async () => known(await folderSize(dataDir)),
})
