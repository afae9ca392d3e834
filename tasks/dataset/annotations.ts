import { readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { shareInterval } from '../../rollout/episode/index.js'
import { CARD_FILE, withSection } from './card.js'
import { DatasetError } from './errors.js'
import { type Annotation, annotationsIn, VERDICTS } from './filled-annotation-form.js'
import { describeFile, MANIFEST_FILE, serializeManifest } from './manifest.js'
import { markdownTable, number, percent } from './markdown.js'
import { SPLITS } from './profile.js'
import type { Dataset } from './read.js'
import { KINDS } from './statistics.js'

/** Larger than a form with a thousand long examples. */
const MAX_FORM_BYTES = 64 << 20
/** Number of annotations that the card quotes. */
const QUOTED = 15

/**
 * Writes annotations into the card of a data set, in place of earlier ones, and the card's new hash into the manifest. Each form belongs to
 * one annotator. An example counts once per annotator.
 * @param forms   paths of filled annotation forms, see `annotationForm`
 * @param annotators  description of the annotators for the card, such as `three people who had not seen the program`
 * @returns  section of the card
 * @throws DatasetError `bad_form`, `missing_file`, and the errors of reading the data set
 */
export async function addAnnotations(dataset: Dataset, forms: readonly string[], annotators: string): Promise<string> {
  const annotations = (await Promise.all(forms.map(readForm))).flat()
  await checkTasks(dataset, annotations)
  const section = annotationsSection(annotations, annotators)
  const { folder, manifest } = dataset
  const path = join(folder, CARD_FILE)
  const card = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new DatasetError('missing_file', `${path} cannot be read (${cause.message}): make the data set again`, {
      cause,
    })
  })
  await writeFileAtomic(path, withSection(card, section))
  const described = await describeFile(folder, CARD_FILE)
  const files = manifest.files.map((entry) => (entry.path === CARD_FILE ? described : entry))
  await writeFileAtomic(join(folder, MANIFEST_FILE), serializeManifest({ ...manifest, files }))
  return section
}

async function readForm(path: string): Promise<readonly Annotation[]> {
  let text: string
  try {
    const { size } = await stat(path)
    if (size > MAX_FORM_BYTES) throw new Error(`${size} bytes, and a form has at most ${MAX_FORM_BYTES}`)
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw new DatasetError(
      'missing_file',
      `${path} cannot be read (${(cause as Error).message}): name a filled annotation form`,
      { cause },
    )
  }
  return annotationsIn(text, basename(path))
}

async function checkTasks(dataset: Dataset, annotations: readonly Annotation[]): Promise<void> {
  const left = new Set(annotations.map(({ task }) => task))
  for (const split of SPLITS) for await (const { task } of dataset.examples(split)) left.delete(task.id)
  const [unknown] = left
  if (unknown !== undefined)
    throw new DatasetError('bad_form', `${dataset.folder} has no task ${unknown}: the form belongs to another data set`)
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
    '## Annotations',
    `A sample with strata of equal size (kinds, and numbers of calls), read completely by ${annotators}. *Odd*: the calls are right, but no person would phrase, request or order it
like this, or the text is not good English. *Wrong*: a call does something else than requested, a reference is wrong or has no referent, or an answer states something untrue. Shares with 95 % intervals (Wilson):`,
    markdownTable(
      ['', 'verdicts', ...VERDICTS],
      [...kinds.filter(([, verdicts]) => verdicts !== '0'), row('all', annotations)],
    ),
    ...(worst.length === 0
      ? []
      : [
          worst.length < bad.length ? `The first ${worst.length} problems, wrong before odd:` : 'Problems:',
          worst.map(({ verdict, reason, task }) => `- ${verdict}: ${reason} (\`${task.slice(0, 12)}\`)`).join('\n'),
        ]),
  ].join('\n\n')
}

function shareOf(count: number, all: number): string {
  const { low, high } = shareInterval(count / all, all)
  return `${number(count)}: ${percent(count / all)} (${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)})`
}
