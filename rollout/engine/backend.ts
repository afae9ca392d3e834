/** Types of keys and values in the slots' caches: 2 bytes a number, or 34 bytes for 32 numbers. The first is the default. */
export const CACHE_TYPES = ['f16', 'q8_0'] as const
export type CacheType = (typeof CACHE_TYPES)[number]

/** The default cache type. */
export const USUAL_CACHE: CacheType = 'f16'

/** Numbers in one block of a quantised cache. The head length must be a multiple of it. */
export const CACHE_BLOCK = 32

/** The devices and settings of a loaded model. Together with the build of the engine they determine its roundings. */
export interface Placement {
  /** Interface of the devices that have layers, or `lavapipe` for Mesa's Vulkan on a CPU. */
  readonly device: GpuInterface | 'lavapipe' | 'cpu'
  /** The drivers' names of the devices; none on a CPU. */
  readonly deviceNames: readonly string[]
  /** Layers on these devices, and layers of the model. */
  readonly layers: number
  readonly allLayers: number
  readonly flashAttention: boolean
  readonly cacheType: CacheType
  /** Rollouts that decode together. Further rollouts wait until one ends. */
  readonly slots: number
  /** Tokens per slot. */
  readonly contextSize: number
  /** Bytes of model and context together, estimated before loading. */
  readonly mainBytes: number
  readonly gpuBytes: number
}

/** Interfaces to GPUs for which the library has builds. */
export type GpuInterface = 'cuda' | 'vulkan' | 'metal'

/** An interface to a GPU that is not used, because the engine's process ended when it computed there. */
export interface PassedOver {
  readonly by: GpuInterface
  readonly why: string
}

/** Returns the warning for users about an unused GPU. */
export const passedOverLine = ({ by, why }: PassedOver): string =>
  `the GPU is not used through ${by}, because the engine crashes there (${why}): install a newer driver`

/** Device name of Mesa's Vulkan driver that computes on the CPU. */
const SOFTWARE = /llvmpipe/i

const SOFTWARE_KIND = 'lavapipe'

/** Returns the kind of the devices of a build. @param gpu  the interface of the build */
export const deviceKind = (gpu: GpuInterface, deviceNames: readonly string[]): Placement['device'] =>
  deviceNames.every((name) => SOFTWARE.test(name)) ? SOFTWARE_KIND : gpu

/** Returns the interface of a model's devices; null: the model is on the CPU. */
export function interfaceOf({ device, layers }: Pick<Placement, 'device' | 'layers'>): GpuInterface | null {
  if (layers === 0 || device === 'cpu') return null
  return device === SOFTWARE_KIND ? 'vulkan' : device
}

/**
 * Returns the backend name for leases and calibrations. It contains the device, `part` if some layers are on the CPU with its roundings,
 * and the attention. It contains the cache type unless that is the default.
 */
export function backendName({ device, layers, allLayers, flashAttention, cacheType }: Placement): string {
  const where = layers === 0 ? ['cpu'] : [device, ...(layers < allLayers ? ['part'] : [])]
  return [...where, ...(flashAttention ? ['flash'] : []), ...(cacheType === USUAL_CACHE ? [] : [cacheType])].join('-')
}

/** Returns the cache type in a name of `backendName` or `calibratedName`. */
export const cacheTypeOf = (backend: string): CacheType =>
  CACHE_TYPES.find((type) => backend.split('@')[0]!.endsWith(`-${type}`)) ?? USUAL_CACHE

/** Returns a backend with the build of the engine. Each such name needs its own calibration: `cpu@3.22.1`. */
export const calibratedName = (build: { readonly backend: string; readonly nodeLlamaCpp: string }): string =>
  `${build.backend}@${build.nodeLlamaCpp}`
