import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { z } from 'zod'
import { type Confinement, type ConfinementLevel, confined, type Needs } from './confinement.js'

const PROBE_TIMEOUT_MS = 30_000
/** Device files of GPUs on Linux: NVIDIA, Intel and AMD, AMD's compute, WSL. */
const GPU_DEVICES = ['/dev/nvidiactl', '/dev/dri', '/dev/kfd', '/dev/dxg']
/** Variables that name drivers to Vulkan's loader: a device may then exist without a device file. */
const DRIVER_VARIABLES = ['VK_DRIVER_FILES', 'VK_ICD_FILENAMES']

const hasGpu = (): boolean =>
  GPU_DEVICES.some((path) => existsSync(path)) || DRIVER_VARIABLES.some((name) => process.env[name])

/** Whether the program runs from source, with the same loader for its child processes. */
export const fromSource = import.meta.url.endsWith('.ts')
/** Node's arguments before a script of this folder. */
export const loaderArguments: readonly string[] = fromSource ? ['--import', import.meta.resolve('tsx')] : []
/** Returns the path of a script of this folder, as JavaScript if compiled. */
export const scriptBeside = (name: string): string =>
  fileURLToPath(new URL(`./${name}.${fromSource ? 'ts' : 'js'}`, import.meta.url))

/** Returns the files of this program: its code, its packages and its package.json. */
export function programFiles(): readonly string[] {
  const code = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
  const top = fromSource ? code : dirname(code)
  // If the program is installed as a package, npm puts its dependencies next to it or inside it.
  const siblings = basename(dirname(top)) === 'node_modules' ? [dirname(top)] : []
  const found = [code, join(top, 'package.json'), join(top, 'node_modules'), ...siblings].filter((path) =>
    existsSync(path),
  )
  // Paths may be links, and Node resolves modules by their real paths.
  return [...new Set(found.flatMap((path) => [path, realpathSync(path)]))]
}

/** Creates the private folder of a process on this level. */
export function makeHome(level: ConfinementLevel): Pick<Needs, 'home' | 'scratch' | 'root'> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'prove-engine-')))
  if (level !== 'files') return { home, scratch: home, root: home }
  const [scratch, root] = [join(home, 'files'), join(home, 'root')]
  for (const folder of [scratch, root]) mkdirSync(folder)
  return { home, scratch, root }
}

const tried = new Map<ConfinementLevel, Promise<string | null>>()

/**
 * Finds the strongest confinement that works on this machine. A program tests each level once per process by trying what it forbids.
 * @param gpu  whether the process may use a GPU; it then sees all files, since drivers read files in many places
 */
export async function findConfinement(gpu: 'auto' | false): Promise<Confinement> {
  if (process.platform !== 'linux') return { level: 'none', lacks: [`${process.platform} has no namespaces`] }
  const lacks: string[] = []
  const usesGpu = gpu !== false && hasGpu()
  if (usesGpu) lacks.push('files: GPU drivers read files in many places')
  for (const level of usesGpu ? (['network'] as const) : (['files', 'network'] as const)) {
    const trial = tried.get(level) ?? whyNot(level)
    tried.set(level, trial)
    const why = await trial
    if (why === null) return { level, lacks }
    lacks.push(`${level}: ${why}`)
  }
  return { level: 'none', lacks }
}

const findings = z.strictObject({
  reachesNetwork: z.boolean(),
  readsSecret: z.boolean(),
  writesOutside: z.boolean(),
  writesScratch: z.boolean(),
})

export type ProbeFindings = z.output<typeof findings>

/** Returns why a level does not work on this machine; null: it works. */
async function whyNot(level: 'files' | 'network'): Promise<string | null> {
  try {
    const found = await probe(level)
    if (found.reachesNetwork) return 'the network can be reached'
    if (!found.writesScratch) return 'its private folder cannot be written'
    if (level === 'files' && (found.readsSecret || found.writesOutside)) return 'files outside can be reached'
    return null
  } catch (why) {
    const { stderr = '', message } = why as Error & { stderr?: string }
    return (stderr.trim().split('\n')[0] || message).slice(0, 200)
  }
}

/** Tests what a program on this level can do. @throws the error of starting it */
export async function probe(level: ConfinementLevel): Promise<ProbeFindings> {
  const { home, scratch, root } = makeHome(level)
  const outside = realpathSync(mkdtempSync(join(tmpdir(), 'prove-outside-')))
  const listener = createServer((socket) => socket.destroy())
  try {
    const secret = join(outside, 'secret')
    writeFileSync(secret, 'secret')
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject)
      listener.listen(0, '127.0.0.1', resolve)
    })
    const { port } = listener.address() as { port: number }
    const script = [scriptBeside('confinement-probe'), String(port), secret, join(outside, 'written'), scratch]
    const { file, args } = confined(
      level,
      { file: process.execPath, args: [...loaderArguments, ...script] },
      { reads: programFiles(), home, scratch, root },
    )
    const { stdout } = await promisify(execFile)(file, [...args], { timeout: PROBE_TIMEOUT_MS })
    return findings.parse(JSON.parse(stdout))
  } finally {
    listener.close()
    for (const folder of [home, outside]) rmSync(folder, { recursive: true, force: true })
  }
}
