import { stringify } from 'yaml'
import { PAPER } from '../../rollout/reward/index.js'
import { baselineTable, describeLengthAuc } from './baselines.js'
import { type Chart, environmentsOf } from './charts.js'
import { type Coverage, type Occurrences, occurrences } from './coverage.js'
import type { DatasetInfo, Outcome } from './dataset-info.js'
import { DatasetError } from './errors.js'
import { type Drops, filtersOf } from './example.js'
import { parquetPath, recordsPath, splitFileName } from './manifest.js'
import { markdownTable, number, percent } from './markdown.js'
import { SPLITS } from './profile.js'
import { profileTable } from './profile-table.js'
import { KINDS, type Statistics, sumOf } from './statistics.js'

export const CARD_FILE = 'README.md'
/** What readers found stands before this. */
const AFTER_ANNOTATIONS = '## Fields'

/** The least covered tools and edges that the card lists. */
const LEAST = 10

export interface CardContent {
  readonly info: DatasetInfo
  readonly outcome: Outcome
  readonly statistics: Statistics
  readonly coverage: Coverage
  readonly charts: readonly Chart[]
  readonly userTurns: number
  /** Measures of the user's words, by name. */
  readonly diversity: readonly (readonly [measure: string, value: number])[]
}

/** The data set card: README.md with the front matter that the Hugging Face hub and `datasets` read. */
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
      '## Knobs',
      `The profile \`${info.profile.name}\` sets what conversations are like; what came out differs where the filters take some conversations more often than others.`,
      profileTable(info.profile, statistics),
    ],
    ...domainRulesSection(statistics),
    ['## Coverage', ...coverageSection(coverage), chart('tools-per-environment')],
    ['## Filters', ...filterSection(statistics.examples, outcome.drops), chart('filter-yields')],
    [
      '## Diversity of the words',
      `Over all ${number(userTurns)} user turns, of ${number(statistics.personas.size)} personas:`,
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
    [AFTER_ANNOTATIONS, FIELDS],
    ['## Loading', ...LOADING],
    ['## Provenance', ...provenance(info)],
  ]
  return `---\n${frontMatter(info, statistics)}---\n\n${sections.map((section) => section.join('\n\n')).join('\n\n')}\n`
}

/** A card with this section in place of what earlier readers found. @throws DatasetError `bad_manifest`: it is no card of this program */
export function withAnnotations(card: string, section: string): string {
  const [heading] = section.split('\n', 1)
  const end = card.indexOf(`\n${AFTER_ANNOTATIONS}\n`)
  if (end === -1)
    throw new DatasetError(
      'bad_manifest',
      `${CARD_FILE} has no heading "${AFTER_ANNOTATIONS}". Make the data set anew.`,
    )
  const earlier = card.indexOf(`\n${heading}\n`)
  return `${card.slice(0, earlier === -1 ? end : Math.min(earlier, end))}\n${section}\n${card.slice(end)}`
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
    `stateful worlds (${number(coverage.tools.length)} tools), with the calls that answer each of them as verifiable ground`,
    'truth. Every call was executed: the responses, failures included, are what the world answered, and playing the calls',
    'again from the recorded seeds gives the same bytes. Made for reinforcement learning with programmatic rewards as in',
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

function coverageSection({ tools, edges }: Coverage): string[] {
  const groups: [string, Row[]][] = [
    ['tools', tools.map(({ tool, examples }) => ({ name: tool, examples }))],
    ...(['explicit', 'implicit', 'cross-environment'] as const).map((kind): [string, Row[]] => [
      `${kind} edges`,
      edges.filter((edge) => edge.kind === kind).map(({ from, to, examples }) => ({ name: `${from}>${to}`, examples })),
    ]),
  ]
  return [
    'How many examples have a tool, or an edge of the dependency graphs, in their ground truth. `coverage.json` has the full tables.',
    markdownTable(
      ['', 'number', 'covered', 'minimum', 'median', 'maximum'],
      groups.map(([name, rows]) => [name, ...spread(rows.map(({ examples }) => occurrences(examples)))]),
    ),
    'The least covered:',
    markdownTable(
      ['', 'examples', 'of training'],
      groups.slice(0, 2).flatMap(([, rows]) => leastCovered(rows)),
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

function leastCovered(rows: readonly Row[]): string[][] {
  return [...rows]
    .sort((a, b) => occurrences(a.examples) - occurrences(b.examples) || (a.name < b.name ? -1 : 1))
    .slice(0, LEAST)
    .map(({ name, examples }) => [`\`${name}\``, number(occurrences(examples)), number(examples.train)])
}

function filterSection(kept: number, drops: Drops): string[] {
  const filters = filtersOf(drops)
  const taken = filters.map((reason) => drops[reason] ?? 0)
  let left = kept + taken.reduce((a, b) => a + b, 0)
  const rows = filters.map((reason, i) => {
    const reached = left
    left -= taken[i]!
    return [`\`${reason}\``, number(reached), number(taken[i]!), reached === 0 ? '-' : percent(left / reached)]
  })
  return [
    'Candidates pass the filters in this order:',
    markdownTable(['filter', 'candidates', 'taken', 'passed'], [...rows, ['kept', number(kept), '', '']]),
  ]
}

function domainRulesSection({ domainRules }: Statistics): [string, ...string[]][] {
  const all = sumOf(domainRules)
  if (all === 0) return []
  return [
    [
      '## Policies',
      `The system message of ${number(all)} examples holds a policy of each world on offer, rules that its tools do not enforce. How they bear on the conversation, and what the user does then:`,
      markdownTable(
        ['domain rules', 'examples', 'share'],
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
      `What policies of known worth earn on these tasks (reward \`${PAPER.name}\`: at most ${PAPER.maximum.calls}, and ${PAPER.maximum.noCall} where no call is right):`,
      markdownTable(['domain rules', 'examples', 'mean reward', 'solved exactly'], rows),
    ],
  ]
}

function probeSection({ probes }: Outcome): [string, ...string[]][] {
  if (probes === undefined) return []
  return [
    [
      '## What a policy could learn instead',
      'Right calls with idle words, calls made twice or all at once: what each earns as a share of the maximum under each reward. `prove-lab probe` makes the table again.',
      probes,
    ],
  ]
}

function baselineSection({ baselines }: Outcome): [string, ...string[]][] {
  const matched =
    baselines && baselines.heldOut > 0
      ? [
          `What no model is needed for, on ${number(baselines.heldOut)} held-out tasks with calls: the lower, the less the tasks are given away by their words.`,
          baselineTable(baselines),
        ]
      : []
  const counted = baselines?.lengths ? [describeLengthAuc(baselines.lengths)] : []
  return matched.length + counted.length === 0 ? [] : [['## Baselines', ...matched, ...counted]]
}

/** What the measures of tasks/synthesis/wording/diversity.ts are, for readers who do not know their names. */
const MEASURES: Readonly<Record<string, string>> = {
  distinct1: 'different words (share of the words of a sample)',
  distinct2: 'different pairs of words',
  distinct3: 'different triples of words',
  selfSimilarity: 'similarity of two turns (mean Jaccard of their word pairs)',
  meanWords: 'words per turn',
  openings: 'turns that begin with the most frequent three words',
}

const FIELDS = markdownTable(
  ['field', 'what it holds'],
  [
    ['`id`', 'SHA-256 of the task: its worlds, tools on offer, user turns and ground truth'],
    ['`index`', 'place in the data set, over all splits'],
    ['`kind`', '`multi-turn`, `clarification` (the right answer is a question) or `abstention` (it is to decline)'],
    ['`messages`', "the conversation in OpenAI's form, one call per assistant message"],
    [
      '`tools`',
      "the functions on offer at first, in OpenAI's form; without the values of enums where `strip_enums` is true",
    ],
    ['`ground_truth`', 'the calls that answer the user turns; `after` names the calls that must come first'],
    [
      '`facts`',
      'what the answers to the user turns must tell, for the reward `outcome`: values that look-ups return, by turn',
    ],
    [
      '`questions`',
      'where something is left out: the answer to that turn has to ask for it in one of these words, and the next turn is said only then',
    ],
    ['`environments`', 'name and seed of every environment that the offered tools belong to'],
    [
      '`toolset`',
      'the environment of each offered tool, and `from` if a later user turn adds the tool: that message describes it. Environments that `chain` does not name are distractors',
    ],
    ['`chain`', 'the chain of tools that the example was made from'],
    ['`calls`', 'per call of the messages: its environment, whether it succeeded, and its place in the ground truth'],
    [
      '`metadata`',
      'how much the user says at first, recovery, persona, where the task has policies how they bear on it (`policy`), and where each argument can be read (`origins`)',
    ],
  ],
  '---',
)

const LOADING = [
  `The Parquet files hold the same records as the JSON lines (\`${recordsPath('train')}\`): scalars as columns, and
\`messages\`, \`tools\`, \`ground_truth\`, \`facts\`, \`questions\`, \`environments\`, \`toolset\`, \`calls\` and \`metadata\` as JSON text, since columnar structures would
be padded with every argument of every tool.`,
  `\`\`\`python
import json
from datasets import load_dataset

data = load_dataset(folder, split="train")  # this folder, or the data set's name on the hub
row = data[0]
messages, tools = json.loads(row["messages"]), json.loads(row["tools"])
\`\`\``,
  `Messages have OpenAI's form, in which a call's \`arguments\` is JSON text. TRL and most chat templates want an object:`,
  `\`\`\`python
def for_trl(row):
    messages = json.loads(row["messages"])
    for message in messages:
        for call in message.get("tool_calls", []):
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return {"messages": messages, "tools": json.loads(row["tools"])}

examples = [for_trl(row) for row in data]  # trl: Dataset.from_list(examples, on_mixed_types="use_json")
\`\`\``,
  `For reinforcement learning, \`ground_truth\` is what the reward compares with, and \`environments\` (name and seed) opens the
environments in the state that the calls were made in.`,
] as const

function provenance(info: DatasetInfo): string[] {
  return [
    info.provenance.map((sentence) => `- ${sentence}`).join('\n'),
    `Nothing of BFCL or tau2-bench was used, neither tasks nor tools nor words: worlds, values and sentences are this project's
own. Domains do coincide: seven of the eight classes of BFCL's multi-turn tasks (all but mathematics) and the airline and retail
domains of tau2-bench have a twin among the project's twenty worlds. Part of a gain on these benchmarks may be closeness of domain; \`--held-out-environments\` makes
data without some of them. The data of the paper was never published; this is
made by its method from scratch, not derived from it. Names of people, addresses and accounts are invented.`,
    `The examples, their words and the results of the worlds are under Apache-2.0, as the program that made them.${
      info.wordsBy === undefined
        ? ''
        : ` The words put by ${info.wordsBy} are besides subject to the terms of that model.`
    }`,
    '`manifest.json` has the settings, the hash of the tools and the SHA-256 of every file. `prove-lab dataset verify` plays every example again.',
  ]
}
