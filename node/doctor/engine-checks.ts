import { existsSync } from 'node:fs'
import prettyMilliseconds from 'pretty-ms'
import type { PolicyManifest } from '../../proto/index.js'
import { EngineError, missingGpuPackages, passedOverLine } from '../../rollout/engine/index.js'
import { checkCanary } from '../policy/canary.js'
import { cacheTypeFor } from '../policy/policy-runtime.js'
import { NodeError } from '../report/errors.js'
import { contextFor, type EngineSpeed, groupSeconds, measureSpeed } from '../work/engine-speed.js'
import { type Examination, withEngine } from './examination.js'
import { type Finding, ok, problem, unknown, warning } from './finding.js'

const PROBE = 'A node tries its engine with a sentence.'
const CUDA_DEVICE = '/dev/nvidiactl'

/** Loads the small model in this package, and scores a sentence. */
export async function checkEngine({ packagedModel, limits }: Examination, signal: AbortSignal): Promise<Finding> {
  try {
    return await withEngine(
      { modelPath: packagedModel, contextSize: 256, slots: 1 },
      limits,
      async ({ engine, tokenizer }) => {
        const logprobs = await engine.score(tokenizer.tokenize(PROBE, false), 1, signal)
        const { backend, nodeLlamaCpp } = engine.build
        const { level, lacks } = engine.confinement
        const found = `llama.cpp (node-llama-cpp ${nodeLlamaCpp}) computes on ${backend}, confinement: ${level}`
        if (!logprobs.every((value) => Number.isFinite(value) && value <= 0))
          return problem(`${found}, and its results are not numbers`, 'try without the GPU: --cpu; and report this')
        if (engine.passedOver.length > 0)
          return warning(
            `${found}; ${engine.passedOver.map(passedOverLine).join('; ')}`,
            'update the driver of the GPU, or do not use it: --gpu none',
          )
        if (backend === 'cpu' && limits.gpu !== 'none' && existsSync(CUDA_DEVICE))
          return warning(
            `${found}, although this machine has an NVIDIA GPU`,
            missingGpuPackages('cuda').length > 0
              ? "install the engine's build for it: prove-node setup"
              : 'install its driver with CUDA or Vulkan',
          )
        return lacks.length > 0 ? ok(`${found}; no stronger confinement: ${lacks.join('; ')}`) : ok(found)
      },
    )
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return problem(
      `the engine does not work: ${error.message}`,
      'try without the GPU: --cpu; if that also fails, install the program again',
    )
  }
}

const NO_VERSION = 'the run has published no version yet'
const NOT_HERE = 'the run’s base model is not on this machine yet'

/** Compares the engine's log-probabilities under the base model with those of the run's canary. */
export async function checkBase(examination: Examination, signal: AbortSignal): Promise<Finding> {
  if (examination.run === null)
    return unknown('no run is given to compare results with', 'prove-node doctor INVITATION')
  const model = await examination.baseModel(signal)
  if (model === null) return unknown(NOT_HERE, 'prove-node join fetches it')
  const manifest = await examination.manifest(signal)
  if (manifest === null) return unknown(NO_VERSION)
  const { ggufSha256 } = manifest.policy.base
  if (model.blob.sha256 !== ggufSha256)
    return problem(`${model.path} is not the run's base model`, 'leave out --model to fetch it')
  try {
    return await withEngine(
      {
        ...{ modelPath: model.path, contextSize: manifest.limits.maxRolloutTokens, slots: 1 },
        cacheType: cacheTypeFor(manifest.policy),
      },
      examination.limits,
      async ({ engine }) => {
        const canary = manifest.canary.map((one) => ({ ...one, policyLogprobs: one.baseLogprobs }))
        await checkCanary(engine, { ...manifest, canary }, signal)
        return ok(`the engine reproduces the run's results for ${canary.length} prompts (on ${engine.build.backend})`)
      },
    )
  } catch (error) {
    if (!(error instanceof EngineError || error instanceof NodeError)) throw error
    return problem(error.message, 'try without the GPU: --cpu; if that helps, report the GPU to the operator')
  }
}

/** A short trial of a group of the run. */
const TRIAL = { promptTokens: 256, sampledTokens: 24 }
/** Longest time of a renewed lease, in lease durations. */
const LONGEST_DURATIONS = 4
/** Length of a usual rollout as a share of the longest that the run allows. */
const USUAL_SHARE = 1 / 4

/** Measures the speed, and compares it with the leases of the run. */
export async function checkSpeed(examination: Examination, signal: AbortSignal): Promise<Finding> {
  if (examination.run === null) return unknown('no run is given to compare the speed with', 'prove-node bench')
  const model = await examination.baseModel(signal)
  if (model === null) return unknown(NOT_HERE, 'prove-node join fetches it')
  const manifest = await examination.manifest(signal)
  if (manifest === null) return unknown(NO_VERSION)
  const trial = { ...TRIAL, slots: manifest.limits.groupSize }
  const speed = await withEngine(
    {
      ...{ modelPath: model.path, contextSize: contextFor(trial), slots: trial.slots },
      cacheType: cacheTypeFor(manifest.policy),
    },
    examination.limits,
    (parts) => measureSpeed(parts, trial, signal),
  )
  return speedFinding(speed, manifest)
}

/** Compares a speed with the leases of a run. */
export function speedFinding(
  speed: EngineSpeed,
  { limits, taskSpec }: Pick<PolicyManifest, 'limits' | 'taskSpec'>,
): Finding {
  const rate = `${speed.sampledPerSecond.toFixed(0)} tokens a second in groups of ${limits.groupSize}`
  const leaseMs = Number(taskSpec.leaseMs)
  if (!(leaseMs > 0)) return unknown(`${rate}; the run does not state how long its leases last`)
  const usual = Math.ceil(limits.maxRolloutTokens * USUAL_SHARE)
  const trialOf = (tokens: number) => ({ slots: limits.groupSize, promptTokens: tokens, sampledTokens: tokens })
  const seconds = groupSeconds(speed, trialOf(usual / 2))
  const most = (LONGEST_DURATIONS * leaseMs) / 1000
  const time = (s: number): string => prettyMilliseconds(Math.ceil(s) * 1000)
  const found = `${rate}: a group of ${usual} tokens a rollout takes ${time(seconds)}, and a lease lasts ${time(leaseMs / 1000)}, or ${time(most)} with renewals`
  const advice = 'allow more threads or a GPU (prove-node limits), or join a run with a smaller model'
  if (seconds > most) return problem(`${found}: the groups would be too late`, advice)
  return seconds > leaseMs / 1000 ? warning(found, advice) : ok(found)
}
