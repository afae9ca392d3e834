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
/** By which a user names drivers to Vulkan's loader: a device may then be there without a file of its own. */
const DRIVER_VARIABLES = ['VK_DRIVER_FILES', 'VK_ICD_FILENAMES']

const hasGpu = (): boolean =>
  GPU_DEVICES.some((path) => existsSync(path)) || DRIVER_VARIABLES.some((name) => process.env[name])

/** Run from source, which needs the loader that runs this file too. */
export const fromSource = import.meta.url.endsWith('.ts')
/** Arguments for Node before a script of this folder. */
export const loaderArguments: readonly string[] = fromSource ? ['--import', import.meta.resolve('tsx')] : []
/** A script of this folder: compiled, it lies beside this file as JavaScript. */
export const scriptBeside = (name: string): string =>
  fileURLToPath(new URL(`./${name}.${fromSource ? 'ts' : 'js'}`, import.meta.url))

/** What this program consists of: its code, the packages it uses and what says that they are modules. */
export function programFiles(): readonly string[] {
  const code = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
  const top = fromSource ? code : dirname(code)
  // Installed, it lies among packages itself, and npm puts those that it uses in either place.
  const beside = basename(dirname(top)) === 'node_modules' ? [dirname(top)] : []
  const found = [code, join(top, 'package.json'), join(top, 'node_modules'), ...beside].filter((path) =>
    existsSync(path),
  )
  // They may be links, and modules are known by where they really are.
  return [...new Set(found.flatMap((path) => [path, realpathSync(path)]))]
}

/** Makes a private folder with what a process on this level needs in it. */
export function makeHome(level: ConfinementLevel): Pick<Needs, 'home' | 'scratch' | 'root'> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'prove-engine-')))
  if (level !== 'files') return { home, scratch: home, root: home }
  const [scratch, root] = [join(home, 'files'), join(home, 'root')]
  for (const folder of [scratch, root]) mkdirSync(folder)
  return { home, scratch, root }
}

const tried = new Map<ConfinementLevel, Promise<string | null>>()

/**
 * The strongest confinement that works here: each is tried once per process, by a program that does what it must not be able to do.
 * @param gpu  whether the process shall use a GPU if there is one: it then sees all files, since drivers look in many places
 */
export async function findConfinement(gpu: 'auto' | false): Promise<Confinement> {
  if (process.platform !== 'linux') return { level: 'none', lacks: [`${process.platform} has no namespaces`] }
  const lacks: string[] = []
  const usesGpu = gpu !== false && hasGpu()
  if (usesGpu) lacks.push('files: the drivers of a GPU look in many places')
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

/** Why a level does not hold here; null: it does. */
async function whyNot(level: 'files' | 'network'): Promise<string | null> {
  try {
    const found = await probe(level)
    if (found.reachesNetwork) return 'the network can be reached'
    if (!found.writesScratch) return 'its own folder cannot be written'
    if (level === 'files' && (found.readsSecret || found.writesOutside)) return 'files outside can be reached'
    return null
  } catch (why) {
    const { stderr = '', message } = why as Error & { stderr?: string }
    return (stderr.trim().split('\n')[0] || message).slice(0, 200)
  }
}

/** What a program on this level can really do. @throws what starting it throws */
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
