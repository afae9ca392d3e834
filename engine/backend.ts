/** Where and how a loaded model computes: what its roundings follow from, beside the build of the engine. */
export interface Placement {
  /** Of the devices that hold layers: the library's name of their interface, or `lavapipe` for Mesa's Vulkan on a CPU. */
  readonly device: string
  /** As their drivers name them; none on a CPU. */
  readonly deviceNames: readonly string[]
  /** Layers on these devices, and layers there are. */
  readonly layers: number
  readonly allLayers: number
  readonly flashAttention: boolean
  /** Rollouts that decode together; others of a group wait for one of them to end. */
  readonly lanes: number
  /** Tokens per lane. */
  readonly contextSize: number
  /** Estimated before loading, model and context together (B). */
  readonly mainBytes: number
  readonly gpuBytes: number
}

/** Mesa's Vulkan driver that computes on the CPU, in the words of its device name. */
const SOFTWARE = /llvmpipe/i

/** @param gpu  the library's name of the interface that its build is for */
export const deviceKind = (gpu: string, deviceNames: readonly string[]): string =>
  deviceNames.every((name) => SOFTWARE.test(name)) ? 'lavapipe' : gpu

/**
 * The name by which work is leased and calibrated. A CPU computes without flash attention and is `cpu`; of the others it is
 * told whether all layers are there, because a rest on the CPU rounds as the CPU does, and which attention they use. The
 * cache is always of float16.
 */
export function backendName({ device, layers, allLayers, flashAttention }: Placement): string {
  if (layers === 0) return 'cpu'
  return [device, ...(layers < allLayers ? ['part'] : []), ...(flashAttention ? ['flash'] : [])].join('-')
}

/** A backend with the build of the engine, which another calibration is for: `cpu@3.22.1`. */
export const calibratedName = (build: { readonly backend: string; readonly nodeLlamaCpp: string }): string =>
  `${build.backend}@${build.nodeLlamaCpp}`
