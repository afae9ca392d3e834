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
  on: 'it was told to (`enable_thinking`)',
  off: 'it was told not to (`enable_thinking`)',
  null: 'as its chat template has it when it is told nothing',
}

/** A name as the Hugging Face hub has them: owner and repository. */
const HUB_NAME = /^[A-Za-z0-9][\w.-]*\/[\w.-]+$/

/**
 * The card of a pulled folder, in the hub's form. It tells what the signed files say and nothing else; of what nobody has measured it
 * says so.
 * @param provenance  null: it was not to be had, or has a form that this version does not know
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
    ['tool calls', `dialect ${code(policy.toolCallFormat)}`],
    ['thinks before it speaks', THINKS[String(TOOL_CALL_FORMATS.get(policy.toolCallFormat)?.thinking ?? null)]!],
    ['reward', `preset ${code(policy.reward)}`],
    ['sampled with', `caches of ${code(policy.cacheType)}`],
    [
      'longest rollout',
      `${limits.maxRolloutTokens} tokens, of at most ${limits.maxAssistantTurns} turns of ${limits.maxTurnTokens}`,
    ],
    ...(provenance ? told(provenance) : []),
  ]
  return [
    ...front,
    '',
    `# Adapter of a PROVE run, version ${version}`,
    '',
    'A LoRA adapter trained with GRPO on rollouts of volunteers, each replayed call by call before it was trained on.',
    '`prove-node adapters verify` checks signature and hashes of this folder; this card is not signed, and made from files that are.',
    '',
    '| | |',
    '| --- | --- |',
    ...rows.map(([name, value]) => `| ${name} | ${value} |`),
    '',
    '## What was measured',
    '',
    ...(provenance
      ? [...measured(provenance), ...heldOut(provenance)]
      : ['The provenance was not to be had when this folder was made.']),
    '',
    'No benchmark is part of a run. `prove-lab eval` plays held-out tasks with base and this very adapter.',
    '',
  ].join('\n')
}

const told = ({ step, steps, tasks, volunteers, recipes }: Provenance): (readonly [string, string])[] => {
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
    return ['Nothing: no step has been trained, and the adapter changes nothing.']
  return [
    'By the trainer, over the batch of the newest step: training tasks, sampled at temperature 1 by the versions before this one.',
    'So it is no score of this version, and none on tasks that were held out.',
    '',
    '| measure | value |',
    '| --- | ---: |',
    ...Object.entries(numbers).map(([name, value]) => `| ${code(name)} | ${Number(value.toPrecision(6))} |`),
  ]
}

/** A score is made after its version is published: a later one tells of it. */
function heldOut({ heldOut: scores }: Provenance): string[] {
  if (scores.length === 0) return []
  const within = (estimate: Estimate, interval: Interval | null, tasks: number): string =>
    `${estimate.mean.toFixed(3)} (${interval ? `${interval.low.toFixed(3)} to ${interval.high.toFixed(3)}` : `all ${tasks} alike`})`
  return [
    '',
    'By the coordinator, on tasks that nobody trains on, each played once at temperature 1, with 95 % intervals (reward: Student’s t; solved: Wilson’s score): versions before this one.',
    '',
    '| version | tasks | reward | solved | calls |',
    '| ---: | ---: | ---: | ---: | ---: |',
    ...scores.map(
      ({ version, tasks, reward, solved, calls }) =>
        `| ${version} | ${tasks} | ${within(reward, meanInterval(reward, tasks), tasks)} | ${within(solved, shareInterval(solved.mean, tasks), tasks)} | ${calls.toFixed(1)} |`,
    ),
  ]
}

/** Names come from whoever runs the run: in a card they are no markup. */
const code = (text: string): string => `\`${text.replaceAll(/[`|\r\n]/g, ' ')}\``
