import { resolve } from 'node:path'
import type { Command } from 'commander'
import { loadEnvironments } from '../../servers/catalogue.js'
import { addProfiles, openDataset, type PolicyProfile } from '../../tasks/dataset/index.js'
import { EvaluationError } from '../evaluation/errors.js'
import { type EvaluationOptions, withEvaluationOptions } from '../evaluation/evaluation-options.js'
import { writeReport } from '../evaluation/report.js'
import { runEvaluation } from '../evaluation/run-evaluation.js'
import type { Measured, MeasuredPolicy, Summary } from '../evaluation/summary.js'
import { resumable } from '../resumable.js'

interface ProfileOptions extends EvaluationOptions {
  readonly label?: string
}

export function addProfileCommand(program: Command): void {
  withEvaluationOptions(program.command('profile'))
    .description('Measure policies on a data set, and write the results into its card')
    .option('--label <name>', 'name of the policy in the card, if there is only one')
    .option('--out <folder>', 'where to write the result, a folder for a report; the same command resumes from it')
    .action(profile)
}

async function profile(options: ProfileOptions): Promise<void> {
  const { label, out } = options
  const several = countOfPolicies(options) > 1
  if (label !== undefined && several)
    throw new EvaluationError(
      'bad_policies',
      `--label names one policy, and there are ${countOfPolicies(options)}: name each one, such as --adapter ${label}=adapter.gguf`,
    )
  const folder = resolve(options.dataset)
  const chosen = { ...options, base: withBase(options), ...(out === undefined ? {} : { out: resolve(out) }) }
  await resumable(
    async (signal) => {
      const measured = await runEvaluation(chosen, signal)
      const policies = measured.policies.map((policy) => (label === undefined ? policy : { ...policy, label }))
      const summary = { ...measured, policies }
      if (chosen.out !== undefined) await writeReport(chosen.out, summary)
      const dataset = await openDataset(folder, await loadEnvironments(), { splits: [], signal })
      return addProfiles(
        dataset,
        policies.map((policy) => profileOf(policy, summary)),
      )
    },
    out === undefined ? 'nothing is kept: with --out <folder>, the same command would resume' : undefined,
  )
}

/** Whether the base model alone is profiled. */
const withBase = ({ base, adapter = [] }: ProfileOptions): boolean => base && adapter.length === 0

const countOfPolicies = (options: ProfileOptions): number =>
  (options.model !== undefined && withBase(options) ? 1 : 0) +
  (options.adapter?.length ?? 0) +
  (options.merged?.length ?? 0) +
  (options.url === undefined ? 0 : (options.urlModel?.length ?? 1))

function profileOf(
  { label, kind, sha256, baseSha256, model, overall, groups }: MeasuredPolicy,
  of: Summary,
): PolicyProfile {
  const { program, dataset, sampling, toolCallFormat, limits } = of
  return {
    label,
    policy: {
      kind,
      ...(sha256 === undefined ? {} : { sha256 }),
      ...(baseSha256 === undefined ? {} : { base_sha256: baseSha256 }),
      ...(model === undefined ? {} : { model }),
    },
    ...{ program, split: dataset.split, split_sha256: dataset.sha256 },
    ...{ samples: sampling.samples, temperature: sampling.temperature, seed: sampling.seed },
    tool_call_format: toolCallFormat,
    limits: {
      max_turn_tokens: limits.maxTurnTokens,
      max_rollout_tokens: limits.maxRolloutTokens,
      max_assistant_turns: limits.maxAssistantTurns,
      max_calls: limits.maxCalls,
    },
    overall: measuredOf(overall),
    environments: Object.fromEntries(
      groups.flatMap((group) => (group.by === 'environment' ? [[group.value, measuredOf(group)]] : [])),
    ),
  }
}

const measuredOf = ({ n, callsReference, greedy, sampled }: Measured): PolicyProfile['overall'] => ({
  n,
  calls_reference: callsReference,
  ...(greedy ? { greedy } : {}),
  ...(sampled ? { sampled } : {}),
})
