import { readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { shareInterval } from '../../rollout/episode/index.js'
import { CARD_FILE, withAnnotations } from './card.js'
import { DatasetError } from './errors.js'
import { type Annotation, annotationsIn, VERDICTS } from './filled-annotation-form.js'
import { describeFile, MANIFEST_FILE, serializeManifest } from './manifest.js'
import { markdownTable, number, percent } from './markdown.js'
import { SPLITS } from './profile.js'
import type { Dataset } from './read.js'
import { KINDS } from './statistics.js'

/** A sheet of some thousand long examples is shorter. */
const MAX_FORM_BYTES = 64 << 20
/** Judgements that the card quotes. */
const QUOTED = 15

/**
 * Puts what people found who read a sample of the data set into its card, in place of earlier readings, and the card's new hash into the
 * manifest. One sheet is what one reader has filled in; an example that several have read counts once for each.
 * @param forms   paths of filled-in sheets of `readingSheet`
 * @param annotators  who they are, for the card: `three people who had not seen the program`
 * @returns  the section of the card
 * @throws DatasetError `bad_form`, `missing_file`, and as reading the data set does
 */
export async function addAnnotations(dataset: Dataset, forms: readonly string[], annotators: string): Promise<string> {
  const annotations = (await Promise.all(forms.map(readForm))).flat()
  await checkTasks(dataset, annotations)
  const section = annotationsSection(annotations, annotators)
  const { folder, manifest } = dataset
  const path = join(folder, CARD_FILE)
  const card = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new DatasetError('missing_file', `${path} cannot be read (${cause.message}). Make the data set anew.`, {
      cause,
    })
  })
  await writeFileAtomic(path, withAnnotations(card, section))
  const described = await describeFile(folder, CARD_FILE)
  const files = manifest.files.map((entry) => (entry.path === CARD_FILE ? described : entry))
  await writeFileAtomic(join(folder, MANIFEST_FILE), serializeManifest({ ...manifest, files }))
  return section
}

async function readForm(path: string): Promise<readonly Annotation[]> {
  let text: string
  try {
    const { size } = await stat(path)
    if (size > MAX_FORM_BYTES) throw new Error(`${size} bytes are more than any sheet has`)
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw new DatasetError('missing_file', `${path} cannot be read (${(cause as Error).message}).`, { cause })
  }
  return annotationsIn(text, basename(path))
}

async function checkTasks(dataset: Dataset, annotations: readonly Annotation[]): Promise<void> {
  const left = new Set(annotations.map(({ task }) => task))
  for (const split of SPLITS) for await (const { task } of dataset.examples(split)) left.delete(task.id)
  const [unknown] = left
  if (unknown !== undefined)
    throw new DatasetError('bad_form', `${dataset.folder} has no task ${unknown}: the sheet is of another data set.`)
}

function annotationsSection(annotations: readonly Annotation[], annotators: string): string {
  const row = (name: string, own: readonly Annotation[]): string[] => [
    name,
    number(own.length),
    ...VERDICTS.map((verdict) =>
      shareOf(own.filter((annotation) => annotation.verdict === verdict).length, own.length),
    ),
  ]
  const kinds = KINDS.map((kind) =>
    row(
      kind,
      annotations.filter((annotation) => annotation.kind === kind),
    ),
  )
  const bad = annotations.filter(({ verdict }) => verdict !== 'good')
  const worst = [...bad].sort((a, b) => VERDICTS.indexOf(b.verdict) - VERDICTS.indexOf(a.verdict)).slice(0, QUOTED)
  return [
    '## Readings',
    `A sample whose strata (kinds, and numbers of calls) are of equal size, read completely by ${annotators}. *Odd*: the calls are right, but no person would ask it so, for this, or in
this order, or the words are not good English. *Wrong*: a call does something else than was asked, a reference means something else or nothing, or an answer tells what is not so. Shares with 95 % intervals (Wilson):`,
    markdownTable(
      ['', 'verdicts', ...VERDICTS],
      [...kinds.filter(([, verdicts]) => verdicts !== '0'), row('all', annotations)],
    ),
    ...(worst.length === 0
      ? []
      : [
          worst.length < bad.length
            ? `The first ${worst.length} of what was found, what is wrong before what is odd:`
            : 'What was found:',
          worst.map(({ verdict, reason, task }) => `- ${verdict}: ${reason} (\`${task.slice(0, 12)}\`)`).join('\n'),
        ]),
  ].join('\n\n')
}

function shareOf(count: number, all: number): string {
  const { low, high } = shareInterval(count / all, all)
  return `${number(count)}: ${percent(count / all)} (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})`
}
