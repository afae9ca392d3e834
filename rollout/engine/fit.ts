import { EngineError } from './errors.js'

/** Bytes of main memory, and of the memory of the devices. */
export interface Bytes {
  readonly main: number
  readonly gpu: number
}

/** What is put where. */
export interface Fit {
  /** Layers on the devices. */
  readonly layers: number
  readonly slots: number
  readonly needs: Bytes
}

/** What a model with so many layers on the devices takes, with a context of so many lanes. */
export type Estimate = (layers: number, slots: number) => Promise<Bytes>

/**
 * Chooses what fits, before anything is loaded: first as many layers on the devices as one lane leaves room for, since each
 * layer beside them costs more time than lanes that take turns; then as many lanes as there is room for.
 * @param most  layers there are (0: there is no device), and lanes wanted, at least one
 * @throws EngineError `model_refused` when not even one lane fits, saying what is missing
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
      `it takes ${mebibytes(main)} of main memory with room for one rollout, ${mebibytes(capacity.main)} are left: allow it more (--memory), or look for a run with a smaller model`,
    )
  }
  const slots = await largest(1, most.slots, fits)
  return { layers, slots, needs: await estimate(layers, slots) }
}

/** The largest number for which a question that smaller ones pass before larger ones is answered with yes; `least` is not asked. */
async function largest(least: number, most: number, question: (n: number) => Promise<boolean>): Promise<number> {
  if (most <= least || (await question(most))) return Math.max(least, most)
  let [yes, no] = [least, most]
  while (no - yes > 1) {
    const middle = Math.floor((yes + no) / 2)
    if (await question(middle)) yes = middle
    else no = middle
  }
  return yes
}

const mebibytes = (bytes: number): string => `${Math.ceil(Math.max(0, bytes) / 2 ** 20)} MiB`
