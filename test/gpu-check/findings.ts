import { distance } from '../../node/policy/canary.js'
import type { EngineReport } from './engines.js'
import type { TrainerReport } from './trainer.js'

/** Largest differences (nats) from the CPU's log-probabilities, on average and of one token. */
const MEAN_TOLERANCE = 0.02
const MAX_TOLERANCE = 0.3

/** One line of the table. */
export interface Finding {
  readonly what: string
  readonly found: string
  /** What it has to be. */
  readonly wanted: string
  /** Null: a figure that nothing is asked of. */
  readonly holds: boolean | null
}

const figure = (what: string, found: string): Finding => ({ what, found, wanted: '', holds: null })

/** What an engine on a GPU is, and how it compares with the one on the CPU that has sampled the rollouts. */
export function engineFindings(cpu: EngineReport, gpu: EngineReport): readonly Finding[] {
  const { placement, build, logprobs } = gpu
  const off = distance(logprobs, cpu.logprobs)
  return [
    figure('device', `${placement.device}: ${placement.deviceNames.join(', ')}`),
    figure('backend as leased', `${build.backend}@${build.nodeLlamaCpp}`),
    figure('layers on it', `${placement.layers} of ${placement.allLayers}`),
    figure('attention and cache', `${placement.flashAttention ? 'flash' : 'plain'}, ${placement.cacheType}`),
    {
      what: `log-probabilities compared with the CPU's, ${logprobs.length} tokens`,
      found: `${off.mean.toExponential(1)} nats on average, at most ${off.max.toExponential(1)}`,
      wanted: `at most ${MEAN_TOLERANCE}, ${MAX_TOLERANCE}`,
      holds: off.mean <= MEAN_TOLERANCE && off.max <= MAX_TOLERANCE,
    },
    figure('draws that select another token', `${gpu.missedDraws} (on the CPU ${cpu.missedDraws})`),
    { what: 'the same seeds, twice', found: gpu.repeats ? 'equal' : 'different', wanted: 'equal', holds: gpu.repeats },
    ...gpu.speeds.map(({ slots, speed }, i) =>
      figure(
        `tokens a second, ${slots === 1 ? '1 slot' : `${slots} slots`}`,
        `${speed.sampledPerSecond.toFixed(1)} (CPU ${cpu.speeds[i]!.speed.sampledPerSecond.toFixed(1)})`,
      ),
    ),
  ]
}

export function trainerFindings({ device, torch, cpuSeconds, steps }: TrainerReport): readonly Finding[] {
  return [
    figure('torch sees', `${device} (torch ${torch})`),
    ...steps.flatMap(({ precision, distance: off, bound, seconds }) => [
      {
        what: `gradient of a step in ${precision} compared with the CPU’s in float32`,
        found: `${off.toExponential(1)} of its length`,
        wanted: `at most ${bound}`,
        holds: off <= bound,
      },
      figure(`the step in ${precision}`, `${seconds.toFixed(2)} s (CPU ${cpuSeconds.toFixed(2)} s)`),
    ]),
  ]
}
