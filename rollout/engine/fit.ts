import { EngineError } from './errors.js'

/** Bytes of main memory, and of the memory of the devices. */
export interface Bytes {
  readonly main: number
  readonly gpu: number
}

/** The placement of a model with its context. */
export interface Fit {
  /** Layers on the devices. */
  readonly layers: number
  readonly slots: number
  readonly needs: Bytes
}

/** Estimates the memory of a model with `layers` layers on the devices and a context of `slots` slots. */
export type Estimate = (layers: number, slots: number) => Promise<Bytes>

/**
 * Chooses a placement that fits, before anything is loaded. First it puts as many layers on the devices as fit with one slot. Layers come
 * first because each layer on the CPU costs more time than slots that take turns. Then it takes as many slots as fit.
 * @param most  layers of the model (0: no device), and requested slots, at least one
 * @throws EngineError `model_refused` when not even one slot fits, with the needed memory
 */
export async function fitInto(
  capacity: Bytes,
  most: { readonly layers: number; readonly slots: number },
  estimate: Estimate,
): Promise<Fit> {
  const fitsGpu = async (layers: number): Promise<boolean> => (await estimate(layers, 1)).gpu <= capacity.gpu
  const layers = await largest(0, most.layers, fitsGpu)
  const fits = async (slots: number): Promise<boolean> => {
    const { main, gpu } = await estimate(layers, slots)
    return main <= capacity.main && gpu <= capacity.gpu
  }
  if (!(await fits(1))) {
    const { main } = await estimate(layers, 1)
    throw new EngineError(
      'model_refused',
      `it needs ${mebibytes(main)} of main memory for one rollout, ${mebibytes(capacity.main)} are available: allow more with --memory, or join a run with a smaller model`,
    )
  }
  const slots = await largest(1, most.slots, fits)
  return { layers, slots, needs: await estimate(layers, slots) }
}

/** Returns the largest number that passes a monotonic test, by bisection. `least` is not tested. */
async function largest(least: number, most: number, passes: (n: number) => Promise<boolean>): Promise<number> {
  if (most <= least || (await passes(most))) return Math.max(least, most)
  let [yes, no] = [least, most]
  while (no - yes > 1) {
    const middle = Math.floor((yes + no) / 2)
    if (await passes(middle)) yes = middle
    else no = middle
  }
  return yes
}

const mebibytes = (bytes: number): string => `${Math.ceil(Math.max(0, bytes) / 2 ** 20)} MiB`
