import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** Interfaces to GPUs whose builds are separate packages, because of their size. The build for Macs contains Metal. */
export const SEPARATE_BUILDS = ['cuda', 'vulkan'] as const
export type SeparateBuild = (typeof SEPARATE_BUILDS)[number]

/** Installed size of the builds for Linux, in MB. */
export const BUILD_MEGABYTES: Readonly<Record<SeparateBuild, number>> = { cuda: 540, vulkan: 70 }

const SYSTEMS: Readonly<Record<string, string>> = { linux: 'linux', win32: 'win' }
const CUDA_DEVICE = '/dev/nvidiactl'
const RENDER_NODES = '/dev/dri'

/** Returns the packages with the builds for an interface. CUDA's second package is for GPUs other than the usual ones. Empty: none exists. */
export function gpuPackages(
  by: SeparateBuild,
  { platform, arch }: Pick<NodeJS.Process, 'platform' | 'arch'> = process,
): string[] {
  const system = SYSTEMS[platform]
  if (system === undefined || arch !== 'x64') return []
  const name = `@node-llama-cpp/${system}-x64-${by}`
  return by === 'cuda' ? [name, `${name}-ext`] : [name]
}

/** Returns the packages of an interface that the engine would not find. */
export const missingGpuPackages = (by: SeparateBuild): string[] =>
  gpuPackages(by).filter((name) => !foldersOf(name).some((folder) => existsSync(join(folder, name))))

const foldersOf = (name: string): readonly string[] => createRequire(import.meta.url).resolve.paths(name) ?? []

/** Returns the interface for the GPU of this machine, from the device files of Linux. Null: no GPU, or not known. */
export function gpuOfThisMachine(): SeparateBuild | null {
  if (existsSync(CUDA_DEVICE)) return 'cuda'
  try {
    return readdirSync(RENDER_NODES).some((name) => name.startsWith('renderD')) ? 'vulkan' : null
  } catch {
    return null
  }
}
