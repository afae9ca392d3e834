/** How keys and values are kept in lanes' caches: 2 bytes a number, or 34 for each 32 of them. The first is usual. */
export const CACHE_TYPES = ['f16', 'q8_0'] as const
export type CacheType = (typeof CACHE_TYPES)[number]

/** What all runs had before there was a choice, and have without one. */
export const USUAL_CACHE: CacheType = 'f16'

/** Numbers that a quantised cache keeps in one block: the length of a head has to be a multiple of it. */
export const CACHE_BLOCK = 32

/** Where and how a loaded model computes: what its roundings follow from, beside the build of the engine. */
export interface Placement {
  /** Of the devices that hold layers: their interface, or `lavapipe` for Mesa's Vulkan on a CPU. */
  readonly device: GpuInterface | 'lavapipe' | 'cpu'
  /** As their drivers name them; none on a CPU. */
  readonly deviceNames: readonly string[]
  /** Layers on these devices, and layers there are. */
  readonly layers: number
  readonly allLayers: number
  readonly flashAttention: boolean
  readonly cacheType: CacheType
  /** Rollouts that decode together; others of a group wait for one of them to end. */
  readonly slots: number
  /** Tokens per lane. */
  readonly contextSize: number
  /** Estimated before loading, model and context together (B). */
  readonly mainBytes: number
  readonly gpuBytes: number
}

/** Ways to a GPU that the library has builds for. */
export type GpuInterface = 'cuda' | 'vulkan' | 'metal'

/** A way to a GPU that was there, on which the process died when it was to compute. */
export interface PassedOver {
  readonly by: GpuInterface
  readonly why: string
}

/** What a user is told of it. */
export const passedOverLine = ({ by, why }: PassedOver): string =>
  `the GPU is not used by ${by}, for the engine ends there (${why}): a newer driver may help`

/** Mesa's Vulkan driver that computes on the CPU, in the words of its device name. */
const SOFTWARE = /llvmpipe/i

const SOFTWARE_KIND = 'lavapipe'

/** @param gpu  the interface that the build is for */
export const deviceKind = (gpu: GpuInterface, deviceNames: readonly string[]): Placement['device'] =>
  deviceNames.every((name) => SOFTWARE.test(name)) ? SOFTWARE_KIND : gpu

/** The interface by which a model is placed; null: it is on the CPU. */
export function interfaceOf({ device, layers }: Pick<Placement, 'device' | 'layers'>): GpuInterface | null {
  if (layers === 0 || device === 'cpu') return null
  return device === SOFTWARE_KIND ? 'vulkan' : device
}

/**
 * The name by which work is leased and calibrated: a CPU, or what device and whether all layers are there, because a rest on the
 * CPU rounds as the CPU does; which attention is used; and the cache's type, where it is not the usual one.
 */
export function backendName({ device, layers, allLayers, flashAttention, cacheType }: Placement): string {
  const where = layers === 0 ? ['cpu'] : [device, ...(layers < allLayers ? ['part'] : [])]
  return [...where, ...(flashAttention ? ['flash'] : []), ...(cacheType === USUAL_CACHE ? [] : [cacheType])].join('-')
}

/** The type of the cache behind a name of `backendName` or `calibratedName`. */
export const cacheTypeOf = (backend: string): CacheType =>
  CACHE_TYPES.find((type) => backend.split('@')[0]!.endsWith(`-${type}`)) ?? USUAL_CACHE

/** A backend with the build of the engine, which another calibration is for: `cpu@3.22.1`. */
export const calibratedName = (build: { readonly backend: string; readonly nodeLlamaCpp: string }): string =>
  `${build.backend}@${build.nodeLlamaCpp}`
