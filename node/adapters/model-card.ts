import type { SealedManifest } from '../../proto/index.js'
import {
  type Estimate,
  type Interval,
  meanInterval,
  shareInterval,
  TOOL_CALL_FORMATS,
} from '../../rollout/episode/index.js'
import type { Provenance } from './pulled-folder.js'

export const CARD_FILE = 'README.md'

const THINKS: Readonly<Record<string, string>> = {
  on: 'yes (`enable_thinking` is true)',
  off: 'no (`enable_thinking` is false)',
  null: 'default of the chat template',
}

/** A name on the Hugging Face hub: owner and repository. */
const HUB_NAME = /^[A-Za-z0-9][\w.-]*\/[\w.-]+$/

/**
 * Writes the model card of a pulled folder, from the signed files alone.
 * @param provenance  null: it was not available, or has a format that this version does not know
 */
export function modelCard({ manifest, manifestId }: SealedManifest, provenance: Provenance | null): string {
  const { version, policy, createdAtMs, limits } = manifest
  const { base, adapter } = policy
  const front = [
    '---',
    ...(HUB_NAME.test(base.name) ? [`base_model: ${base.name}`, 'base_model_relation: adapter'] : []),
    'library_name: peft',
    'pipeline_tag: text-generation',
    'tags: [lora, grpo, tool-use, gguf]',
    '---',
  ]
  const rows: (readonly [string, string])[] = [
    ['version', `${version}, published ${new Date(createdAtMs).toISOString()}`],
    ['manifest', `\`${manifestId}\``],
    ['base model', `${code(base.name)}, ${code(base.quantisation)}, SHA-256 \`${base.ggufSha256}\``],
    ...(adapter
      ? ([
          ['LoRA', `rank ${adapter.rank}, alpha ${adapter.alpha}, on ${adapter.targetModules.map(code).join(', ')}`],
        ] as const)
      : []),
    ['tool calls', `format ${code(policy.toolCallFormat)}`],
    ['thinks before it answers', THINKS[String(TOOL_CALL_FORMATS.get(policy.toolCallFormat)?.thinking ?? null)]!],
    ['reward', `preset ${code(policy.reward)}`],
    ['sampled with', `caches of ${code(policy.cacheType)}`],
    [
      'longest rollout',
      `${limits.maxRolloutTokens} tokens, of at most ${limits.maxAssistantTurns} turns of ${limits.maxTurnTokens}`,
    ],
    ...(provenance ? facts(provenance) : []),
  ]
  return [
    ...front,
    '',
    `# Adapter of a PROVE run, version ${version}`,
    '',
    'A LoRA adapter trained with GRPO on rollouts of volunteers, each replayed call by call before training.',
    '`prove-node adapters verify` checks signature and hashes of this folder; this card is not signed, but made from signed files.',
    '',
    '| | |',
    '| --- | --- |',
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
    '',
    '## What was measured',
    '',
    ...(provenance
      ? [...measured(provenance), ...heldOut(provenance)]
      : ['The provenance was not available when this folder was made.']),
    '',
    'No benchmark is part of a run. `prove-lab eval` plays held-out tasks with the base model and with this adapter.',
    '',
  ].join('\n')
}

const facts = ({ step, steps, tasks, volunteers, recipes }: Provenance): (readonly [string, string])[] => {
  const groups = steps.reduce((sum, one) => sum + one.groups, 0)
  const newest = steps.at(-1)?.recipe ?? null
  const rate = (recipes[newest ?? -1]?.settings.optimizer as { readonly lr?: unknown } | undefined)?.lr
  return [
    ['training', `${steps.length} steps up to step ${step}, ${groups} groups of rollouts, ${volunteers} volunteers`],
    ['tasks', `${tasks.examples} of the data set \`${tasks.dataset}\``],
    ...(typeof rate === 'number'
      ? ([['learning rate', `${rate} in the last step; provenance.json has all`]] as const)
      : []),
  ]
}

function measured({ measured: numbers, step }: Provenance): string[] {
  if (step === 0 || numbers === null || Object.keys(numbers).length === 0)
    return ['Nothing: no step was trained, and the adapter changes nothing.']
  return [
    'The trainer measured the batch of the newest step: training tasks, sampled at temperature 1 by earlier versions.',
    'These numbers are no score of this version, and not on held-out tasks.',
    '',
    '| measure | value |',
    '| --- | ---: |',
    ...Object.entries(numbers).map(([name, value]) => `| ${code(name)} | ${Number(value.toPrecision(6))} |`),
  ]
}

/** Lists the scores on held-out tasks: those of earlier versions, because a score follows its publication. */
function heldOut({ heldOut: scores }: Provenance): string[] {
  if (scores.length === 0) return []
  const within = (estimate: Estimate, interval: Interval | null, tasks: number): string =>
    `${estimate.mean.toFixed(3)} (${interval ? `${interval.low.toFixed(3)} to ${interval.high.toFixed(3)}` : `all ${tasks} alike`})`
  return [
    '',
    'The coordinator played held-out tasks with earlier versions, each task once at temperature 1. Intervals are 95 % (reward: Student’s t; solved: Wilson’s score).',
    '',
    '| version | tasks | reward | solved | calls |',
    '| ---: | ---: | ---: | ---: | ---: |',
    ...scores.map(
      ({ version, tasks, reward, solved, calls }) =>
        `| ${version} | ${tasks} | ${within(reward, meanInterval(reward, tasks), tasks)} | ${within(solved, shareInterval(solved.mean, tasks), tasks)} | ${calls.toFixed(1)} |`,
    ),
  ]
}

/** Removes markup from a name, which the operator of a run chooses. */
const code = (text: string): string => `\`${text.replaceAll(/[`|\r\n]/g, ' ')}\``
