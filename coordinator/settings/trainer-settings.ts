import { z } from 'zod'
import { LIMITS } from '../../proto/index.js'

const PROJECTIONS = ['down_proj', 'gate_proj', 'k_proj', 'o_proj', 'q_proj', 'up_proj', 'v_proj'] as const

const from = (low: number, high: number) => z.number().min(low).max(high).optional()
const whole = (low: number, high: number) => z.int().min(low).max(high).optional()
const distinct = (names: readonly string[]): boolean => new Set(names).size === names.length

/**
 * Schema of `trainer.settings` in run.yaml: the fields of `trainer.json` that `prove_trainer/config.py` accepts, except those that the
 * coordinator fills in. Parsed here too, so that a wrong field is refused before anything is started. The defaults are Python's. A test
 * compares the two with coordinator/trainer/contract.json.
 */
export const trainerSettings = z.strictObject({
  baseModel: z.strictObject({ revision: z.string().min(1).max(200).optional() }).optional(),
  loss: z
    .strictObject({
      advantage: z.enum(['none', 'group']).optional(),
      clipLow: from(0, 1),
      clipHigh: from(0, 10),
      /** 0: off. */
      dualClip: from(0, 100),
      tisCap: from(0.01, 100),
      klCoefficient: from(0, 10),
      /** Trainer steps. Default: the run's `maxStaleness`. */
      maxStaleness: whole(0, LIMITS.staleness.value),
      /** Nats, like `drift`. */
      guard: from(1e-6, 20),
      drift: from(1e-6, 20),
      /** Ratio of a whole rollout; 0: no limit. */
      sequenceRatioMax: from(0, 1e6),
      sequenceRatioMin: from(0, 1),
      /** Nats; 0: no limit. */
      offPolicyMax: from(0, 20),
      temperature: from(0.05, 10),
    })
    .optional(),
  lora: z
    .strictObject({
      rank: whole(1, LIMITS.adapterRank.value),
      alpha: from(1e-3, LIMITS.adapterAlpha.value),
      targetModules: z
        .array(z.enum(PROJECTIONS))
        .min(1)
        .refine(distinct, 'a module is named twice')
        .meta({ uniqueItems: true })
        .optional(),
      rsLora: z.boolean().optional(),
    })
    .optional(),
  optimizer: z
    .strictObject({
      lr: from(0, 10),
      beta1: from(0, 0.99999),
      beta2: from(0, 0.999999),
      eps: from(1e-16, 1e-2),
      weightDecay: from(0, 10),
      maxGradNorm: from(1e-6, 1e6),
      /** Number of updates, like `decaySteps`. */
      warmupSteps: whole(0, 1_000_000),
      schedule: z.enum(['constant', 'linear', 'cosine']).optional(),
      decaySteps: whole(0, 1_000_000),
      /** Share of `lr`. */
      finalShare: from(0, 1),
      passes: whole(1, 16),
    })
    .optional(),
  keepSteps: z.strictObject({ last: whole(0, 1_000_000), every: whole(0, 1_000_000) }).optional(),
  seed: whole(0, 2 ** 32 - 1),
  device: z.enum(['cpu', 'cuda']).optional(),
  precision: z.enum(['float32', 'bfloat16', 'float16']).optional(),
  /** Threads per rank. */
  threads: whole(1, 1024),
  packing: z.enum(['shared', 'packed', 'single']).optional(),
  checkpointing: z.enum(['none', 'layer', 'auto']).optional(),
  sharding: z.enum(['none', 'layers']).optional(),
  /** Memory of the device for which a step is planned. */
  memoryGiB: from(0, 4096),
  /** 0: as many as fit. */
  maxTokensPerForward: whole(0, 2 ** 22),
  maxDeltaNorm: from(1e-6, 1e6),
  pollMs: whole(10, 60_000),
})

export type TrainerSettings = z.output<typeof trainerSettings>
