import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { known, type SensorReading, unknown } from './sensor-reading.js'

const TIMEOUT_MS = 10_000
const ask = promisify(execFile)

/** Returns the lines of an answer of NVIDIA's tool. */
async function query(what: string): Promise<SensorReading<string[]>> {
  try {
    const { stdout } = await ask('nvidia-smi', [what, '--format=csv,noheader,nounits'], { timeout: TIMEOUT_MS })
    return known(stdout.split('\n').filter((line) => line.trim() !== ''))
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return unknown(code === 'ENOENT' ? 'nvidia-smi is not installed' : message.split('\n')[0]!)
  }
}

/** Reads the names of programs that use CUDA, without the engine. Games and other graphics are not included. */
export async function readOthersOnGpu(enginePid: number | undefined): Promise<SensorReading<string[]>> {
  const lines = await query('--query-compute-apps=pid,process_name')
  return lines.known ? known(othersAmong(lines.value, enginePid)) : lines
}

/** Returns the names of other programs. @param lines  such as `1234, /usr/bin/blender` */
export function othersAmong(lines: readonly string[], enginePid: number | undefined): string[] {
  const found = lines.flatMap((line) => {
    const [, pid, name] = /^\s*(\d+)\s*,\s*(.*?)\s*$/.exec(line) ?? []
    if (pid === undefined || Number(pid) === enginePid) return []
    // In a container or a virtual machine the name may be unknown: `[Not Found]`, `[No data]`.
    return [name === '' || name!.startsWith('[') ? `process ${pid}` : name!.split(/[/\\]/).at(-1)!]
  })
  return [...new Set(found)]
}

/** Reads the temperature of the hottest GPU (°C). */
export async function readGpuHeat(): Promise<SensorReading<number>> {
  const lines = await query('--query-gpu=temperature.gpu')
  if (!lines.known) return lines
  const degrees = lines.value.map(Number).filter((value) => Number.isFinite(value))
  return degrees.length > 0 ? known(Math.max(...degrees)) : unknown('nvidia-smi reports no temperature')
}
