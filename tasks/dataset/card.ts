import { stringify } from 'yaml'
import { PAPER } from '../../rollout/reward/index.js'
import { baselineTable, describeLengthAuc } from './baselines.js'
import { type Chart, environmentsOf } from './charts.js'
import { type Coverage, EXPECTED_PER_TOOL, type Occurrences, occurrences } from './coverage.js'
import type { DatasetInfo, Outcome } from './dataset-info.js'
import { DatasetError } from './errors.js'
import { FEATURES, LOADING } from './loading.js'
import { parquetPath, splitFileName } from './manifest.js'
import { markdownTable, number, percent } from './markdown.js'
import { SPLITS } from './profile.js'
import { profileTable } from './profile-table.js'
import { quotasOf, unmetQuotas } from './quotas.js'
import { KINDS, type Statistics, sumOf } from './statistics.js'

export const CARD_FILE = 'README.md'
/** Heading after the sections that are added later: profiles of policies, and annotations. */
const AFTER_ADDED = '## Fields'

/** Number of least covered tools and of edges that the card lists. */
const LEAST = 10
/** Examples for each tool from which on a data set is large. */
const LARGE = 10

export interface CardContent {
  readonly info: DatasetInfo
  readonly outcome: Outcome
  readonly statistics: Statistics
  readonly coverage: Coverage
  readonly charts: readonly Chart[]
  readonly userTurns: number
  /** Diversity measures of the user's words, by name. */
  readonly diversity: readonly (readonly [measure: string, value: number])[]
}

/** Returns the data set card: README.md with front matter for the Hugging Face hub and `datasets`. */
export function renderCard(content: CardContent): string {
  const { info, outcome, statistics, coverage, charts, diversity, userTurns } = content
  const chart = (name: string): string => {
    const { path, title } = charts.find(({ path }) => path === `plots/${name}.svg`)!
    return `![${title}](${path})`
  }
  const sections: [string, ...string[]][] = [
    [`# ${info.title}`, summary(content)],
    ['## Composition', composition(statistics), chart('turns'), chart('calls')],
    [
      '## Profile',
      `The profile \`${info.profile.name}\` sets the targets for conversations. A plan for each task is drawn from these targets before anything is searched.`,
      profileTable(info.profile, statistics),
      ...unmetSection(unmetQuotas(quotasOf(info.profile, statistics), outcome.gaveUp ?? 0)),
    ],
    ...domainRulesSection(statistics),
    ['## Coverage', ...coverageSection(coverage, statistics.examples, outcome), chart('tools-per-environment')],
    ['## Objections', ...objectionSection(statistics.examples, outcome), chart('objections')],
    [
      '## Diversity of the user turns',
      `Measured over all ${number(userTurns)} user turns of ${number(statistics.personas.size)} personas:`,
      markdownTable(
        ['measure', 'value'],
        diversity.map(([measure, value]) => [
          MEASURES[measure] ?? measure,
          Number.isInteger(value) ? number(value) : value.toFixed(4),
        ]),
      ),
    ],
    ...sanitySection(outcome),
    ...probeSection(outcome),
    ...baselineSection(outcome),
    [AFTER_ADDED, FIELDS],
    ['## Loading', ...LOADING],
    ['## Provenance', ...provenance(info)],
  ]
  return `---\n${frontMatter(info, statistics)}---\n\n${sections.map((section) => section.join('\n\n')).join('\n\n')}\n`
}

/**
 * Returns the card with a section in place of an earlier one with the same heading. A new section precedes the fields.
 * @param section  its heading is of the second level, and it has no other one
 * @throws DatasetError `bad_manifest` if the card is not from this program
 */
export function withSection(card: string, section: string): string {
  const [heading] = section.split('\n', 1)
  const fields = card.indexOf(`\n${AFTER_ADDED}\n`)
  if (fields === -1)
    throw new DatasetError('bad_manifest', `${CARD_FILE} has no heading "${AFTER_ADDED}": make the data set again`)
  const earlier = card.indexOf(`\n${heading}\n`)
  const [from, to] = earlier === -1 ? [fields, fields] : [earlier, card.indexOf('\n## ', earlier + 1)]
  return `${card.slice(0, from)}\n${section}\n${card.slice(to === -1 ? card.length : to)}`
}

function frontMatter(info: DatasetInfo, statistics: Statistics): string {
  const filled = SPLITS.filter((split) => sumOf(statistics.kinds.get(split)!) > 0)
  return stringify(
    {
      license: 'apache-2.0',
      pretty_name: info.title,
      language: ['en'],
      task_categories: ['text-generation'],
      tags: ['tool-use', 'function-calling', 'mcp', 'multi-turn', 'reinforcement-learning', 'synthetic'],
      size_categories: [sizeCategory(statistics.examples)],
      configs: [
        {
          config_name: 'default',
          data_files: filled.map((split) => ({ split: splitFileName(split), path: parquetPath(split) })),
        },
      ],
      dataset_info: { config_name: 'default', features: FEATURES },
    },
    { lineWidth: 0 },
  )
}

function sizeCategory(examples: number): string {
  if (examples < 1000) return 'n<1K'
  if (examples < 10_000) return '1K<n<10K'
  return examples < 100_000 ? '10K<n<100K' : '100K<n<1M'
}

function summary({ info, statistics, coverage }: CardContent): string {
  return [
    `${number(statistics.examples)} conversations in which an assistant uses tools of ${environmentsOf(coverage.tools).length}`,
    `stateful environments (${number(coverage.tools.length)} tools), with the calls that fulfil each request as verifiable ground`,
    'truth. Every call was executed: the responses, including failures, are those of the environment, and a replay of the calls',
    'with the recorded seeds gives the same bytes. Made for reinforcement learning with programmatic rewards as in',
    `PROVE (arXiv 2606.03892); the conversations also serve as supervised data. Seed ${info.seed}.`,
  ].join('\n')
}

function composition(statistics: Statistics): string {
  return markdownTable(
    ['split', ...KINDS, 'all'],
    SPLITS.map((split) => {
      const tally = statistics.kinds.get(split)!
      return [`\`${splitFileName(split)}\``, ...KINDS.map((kind) => number(tally.get(kind) ?? 0)), number(sumOf(tally))]
    }),
  )
}

interface Row {
  readonly name: string
  readonly examples: Occurrences
}

function coverageSection({ tools, edges }: Coverage, examples: number, { scarcity = {} }: Outcome): string[] {
  const groups: [string, Row[]][] = [
    ['tools', tools.map(({ tool, examples }) => ({ name: tool, examples }))],
    ...(['explicit', 'implicit', 'cross-environment'] as const).map((kind): [string, Row[]] => [
      `${kind} edges`,
      edges.filter((edge) => edge.kind === kind).map(({ from, to, examples }) => ({ name: `${from}>${to}`, examples })),
    ]),
  ]
  return [
    'Number of examples with a tool, or an edge of the dependency graphs, in their ground truth. `coverage.json` has the full tables.',
    markdownTable(
      ['', 'number', 'covered', 'minimum', 'median', 'maximum'],
      groups.map(([name, rows]) => [name, ...spread(rows.map(({ examples }) => occurrences(examples)))]),
    ),
    'Least covered:',
    markdownTable(
      ['', 'examples', 'in training', 'reason'],
      groups
        .slice(0, 2)
        .flatMap(([name, rows]) => leastCovered(rows, name === 'tools' && examples >= LARGE * tools.length, scarcity)),
    ),
  ]
}

function spread(counts: readonly number[]): string[] {
  const sorted = [...counts].sort((a, b) => a - b)
  const covered = counts.filter((n) => n > 0).length
  const [low, middle, high] = [sorted[0], sorted[Math.floor((sorted.length - 1) / 2)], sorted.at(-1)]
  const share = sorted.length === 0 ? '-' : `${number(covered)} (${percent(covered / sorted.length)})`
  return [number(sorted.length), share, ...[low, middle, high].map((n) => (n === undefined ? '-' : number(n)))]
}

function leastCovered(rows: readonly Row[], isLarge: boolean, reasons: Readonly<Record<string, string>>): string[][] {
  const scarce = rows.filter(({ examples }) => occurrences(examples) < EXPECTED_PER_TOOL).length
  return [...rows]
    .sort((a, b) => occurrences(a.examples) - occurrences(b.examples) || (a.name < b.name ? -1 : 1))
    .slice(0, isLarge ? Math.max(LEAST, scarce) : LEAST)
    .map(({ name, examples }) => {
      const all = occurrences(examples)
      return [`\`${name}\``, number(all), number(examples.train), all < EXPECTED_PER_TOOL ? (reasons[name] ?? '') : '']
    })
}

const unmetSection = (unmet: readonly string[]): string[] =>
  unmet.length === 0
    ? []
    : [`Shares that differ by more than a tenth from the target:\n\n${unmet.map((line) => `- ${line}`).join('\n')}`]

function objectionSection(kept: number, { drops, objections = [] }: Outcome): string[] {
  const dropped = Object.values(drops).reduce((sum, count) => sum + count, 0)
  const perExample = kept === 0 ? '-' : (dropped / kept).toFixed(1)
  const protects = new Map(objections.map((row) => [row.name, row.protects]))
  const rows = Object.entries(drops).map(([name, count]) => [`\`${name}\``, protects.get(name) ?? '', number(count)])
  return [
    `${number(dropped)} candidates were dropped, ${perExample} for each example. \`prove-lab dataset explain NAME\` describes an objection.`,
    markdownTable(['objection', 'protects', 'dropped'], rows, '---'),
  ]
}

function domainRulesSection({ domainRules }: Statistics): [string, ...string[]][] {
  const all = sumOf(domainRules)
  if (all === 0) return []
  return [
    [
      '## Domain rules',
      `The system message of ${number(all)} examples contains the domain rules of each offered environment. The tools do not enforce these rules. Role of the rules in the conversation, and the user's reaction:`,
      markdownTable(
        ['role', 'examples', 'share'],
        [...domainRules].sort(([a], [b]) => (a < b ? -1 : 1)).map(([how, n]) => [how, number(n), percent(n / all)]),
      ),
    ],
  ]
}

function sanitySection({ sanity }: Outcome): [string, ...string[]][] {
  if (!sanity || sanity.length === 0) return []
  const rows = sanity.map(({ policy, examples, meanReward, solved }) => [
    policy,
    number(examples),
    meanReward.toFixed(3),
    percent(solved),
  ])
  return [
    [
      '## Reward',
      `Rewards of policies of known quality on these tasks (preset \`${PAPER.name}\`: maximum ${PAPER.maximum.calls}, or ${PAPER.maximum.noCall} for tasks without calls):`,
      markdownTable(['policy', 'examples', 'mean reward', 'solved exactly'], rows),
    ],
  ]
}

function probeSection({ probes }: Outcome): [string, ...string[]][] {
  if (probes === undefined) return []
  return [
    [
      '## Reward hacks',
      'Right calls with useless answers, repeated calls, all calls at once: share of the maximum under each reward preset. `prove-lab probe` reproduces the table.',
      probes,
    ],
  ]
}

function baselineSection({ baselines }: Outcome): [string, ...string[]][] {
  const matched =
    baselines && baselines.heldOut > 0
      ? [
          `Word matching without a model, on ${number(baselines.heldOut)} held-out tasks with calls. Low values mean that the words alone do not reveal the tools.`,
          baselineTable(baselines),
        ]
      : []
  const counted = baselines?.lengths ? [describeLengthAuc(baselines.lengths)] : []
  return matched.length + counted.length === 0 ? [] : [['## Baselines', ...matched, ...counted]]
}

/** Descriptions of the measures in diversity.ts. */
const MEASURES: Readonly<Record<string, string>> = {
  distinct1: 'different words (share of the words of a sample)',
  distinct2: 'different pairs of words',
  distinct3: 'different triples of words',
  selfSimilarity: 'similarity of two turns (mean Jaccard of their word pairs)',
  meanWords: 'words per turn',
  openings: 'turns that begin with the most frequent three words',
}

const FIELDS = markdownTable(
  ['field', 'content'],
  [
    ['`id`', 'SHA-256 of the task: its environments, offered tools, user turns and ground truth'],
    ['`index`', 'index in the data set, over all splits'],
    [
      '`kind`',
      '`multi-turn`, `clarification` (the right answer is a question) or `abstention` (the right answer declines)',
    ],
    ['`messages`', "conversation in OpenAI's format, one call per assistant message"],
    ['`tools`', "functions offered at first, in OpenAI's format; without enum values if `strip_enums` is true"],
    ['`ground_truth`', 'calls that fulfil the user turns; `after` lists the calls that must precede a call'],
    ['`facts`', 'facts that the answers must state, for the reward preset `outcome`: values from results, by turn'],
    [
      '`questions`',
      'where a value is missing: the answer to that turn must ask for the value in one of these words before the user says the next turn',
    ],
    ['`environments`', 'name and seed of every environment that the offered tools belong to'],
    [
      '`toolset`',
      'environment of each offered tool, and `from` if a later user turn adds and describes the tool. Environments outside `chain` are distractors',
    ],
    ['`chain`', 'chain of tools from which the example was made'],
    ['`calls`', 'for each call of the messages: environment, success, and index in the ground truth'],
    [
      '`metadata`',
      'information that the user states at first, recovery, persona, role of the domain rules if any (`domain_rules`), and source of each argument (`origins`)',
    ],
  ],
  '---',
)

function provenance(info: DatasetInfo): string[] {
  return [
    info.provenance.map((sentence) => `- ${sentence}`).join('\n'),
    `No tasks, tools or texts of BFCL or tau2-bench were used: environments, values and sentences are this project's
own. The domains overlap: seven of the eight classes of BFCL's multi-turn tasks (all but mathematics) and the airline and retail
domains of tau2-bench have a counterpart among the project's twenty environments. Similar domains may explain part of a gain on these benchmarks; \`--held-out-environments\` makes
data without some of them. The data of the paper was never published. This data set was made from scratch by the
paper's method. Names of people, addresses and accounts are invented.`,
    `The examples, their texts and the results of the environments are under Apache-2.0, like the program that made them.${
      info.wordsBy === undefined ? '' : ` The texts by ${info.wordsBy} are also subject to the terms of that model.`
    }`,
    '`manifest.json` has the settings, the hash of the tools and the SHA-256 of every file. `prove-lab dataset verify` replays every example.',
  ]
}
