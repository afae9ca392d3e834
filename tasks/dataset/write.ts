import { access, type FileHandle, mkdir, mkdtemp, open, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type Catalogue, toolsetSchemaSha256 } from '../../rollout/episode/index.js'
import { CARD_FILE, renderCard } from './card.js'
import { chartsOf } from './charts.js'
import { countCoverage, serializeCoverage } from './coverage.js'
import type { DatasetInfo } from './dataset-info.js'
import { DatasetError } from './errors.js'
import type { Example } from './example.js'
import {
  describeFile,
  MANIFEST_FILE,
  MANIFEST_SCHEMA,
  type Manifest,
  parquetPath,
  recordsPath,
  serializeManifest,
} from './manifest.js'
import { createParquetFile, type ParquetFile } from './parquet.js'
import { SPLITS, type Split } from './profile.js'
import { lineOf, RECORD_LIMITS, recordOf } from './record.js'
import { countExample, emptyStatistics, KINDS, type Statistics, sumOf } from './statistics.js'

/**
 * Writes a data set: JSON lines and Parquet per split, the card with its charts, and last the manifest. Writes to a temporary folder next to
 * `folder` and renames it at the end, so an incomplete data set never exists. The same examples and info give the same bytes.
 * @param examples   examples with ascending indices; splits may alternate
 * @param catalogue  environments of the data set, over whose tools coverage is counted
 * @throws DatasetError `already_there` if `folder` exists, `bad_example`
 */
export async function writeDataset(
  folder: string,
  examples: AsyncIterable<Example>,
  info: DatasetInfo,
  catalogue: Catalogue,
): Promise<Manifest> {
  const target = resolve(folder)
  await refuseExisting(target)
  await mkdir(dirname(target), { recursive: true })
  const temporary = await mkdtemp(join(dirname(target), `.${basename(target)}-`))
  try {
    const manifest = await fill(temporary, examples, info, catalogue)
    await refuseExisting(target)
    await rename(temporary, target)
    return manifest
  } catch (cause) {
    await rm(temporary, { recursive: true, force: true })
    throw cause
  }
}

async function refuseExisting(target: string): Promise<void> {
  try {
    await access(target)
  } catch {
    return
  }
  throw new DatasetError('already_there', `${target} already exists: remove it or name another folder`)
}

async function fill(
  folder: string,
  examples: AsyncIterable<Example>,
  info: DatasetInfo,
  catalogue: Catalogue,
): Promise<Manifest> {
  await mkdir(join(folder, 'data'))
  await mkdir(join(folder, 'plots'))
  const statistics = emptyStatistics()
  const counter = countCoverage(catalogue)
  const userTurns: string[] = []
  await writeRecords(folder, examples, catalogue, (example) => {
    countExample(statistics, example)
    counter.add(example)
    userTurns.push(...example.task.turns)
  })
  const coverage = counter.finish()
  const outcome = await info.outcome()
  const charts = await chartsOf(statistics, coverage, outcome.drops)
  for (const { path, svg } of charts) await writeFile(join(folder, path), svg)
  await writeFile(join(folder, 'coverage.json'), serializeCoverage(coverage))
  const content = {
    info,
    outcome,
    statistics,
    coverage,
    charts,
    userTurns: userTurns.length,
    diversity: Object.entries(info.diversity(userTurns)),
  }
  await writeFile(join(folder, CARD_FILE), renderCard(content))
  const paths = [
    ...SPLITS.flatMap((split) => [recordsPath(split), parquetPath(split)]),
    CARD_FILE,
    'coverage.json',
    ...charts.map(({ path }) => path),
  ]
  const manifest: Manifest = {
    schema: MANIFEST_SCHEMA,
    title: info.title,
    seed: info.seed,
    profile: withSnakeCaseKeys(info.profile),
    settings: withSnakeCaseKeys(info.settings),
    environments: [...catalogue.keys()],
    toolset_schema_sha256: toolsetSchemaSha256([...catalogue.values()]),
    counts: countsOf(statistics),
    drops: { ...outcome.drops },
    files: [],
  }
  for (const path of paths) manifest.files.push(await describeFile(folder, path))
  await writeFile(join(folder, MANIFEST_FILE), serializeManifest(manifest))
  return manifest
}

/** Returns a JSON object whose keys are in snake case at all levels, as everywhere in the files of a data set. */
const withSnakeCaseKeys = (value: object): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      isObject(inner) ? withSnakeCaseKeys(inner) : inner,
    ]),
  )

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

interface SplitFiles {
  readonly lines: FileHandle
  readonly parquet: ParquetFile
}

async function writeRecords(
  folder: string,
  examples: AsyncIterable<Example>,
  catalogue: Catalogue,
  written: (example: Example) => void,
): Promise<void> {
  const files = new Map<Split, SplitFiles>()
  try {
    for (const split of SPLITS) {
      const lines = await open(join(folder, recordsPath(split)), 'wx')
      files.set(split, { lines, parquet: createParquetFile(join(folder, parquetPath(split))) })
    }
    let last = -1
    for await (const example of examples) {
      const refuse = (problem: string): never => {
        throw new DatasetError('bad_example', `example ${example.index}, task ${example.task.id}: ${problem}`)
      }
      if (example.index <= last) refuse(`its index is not greater than ${last}`)
      last = example.index
      const record = recordOf(example, catalogue)
      const line = Buffer.from(`${lineOf(record)}\n`)
      if (line.length > RECORD_LIMITS.lineBytes)
        refuse(`${line.length} bytes, and a record has at most ${RECORD_LIMITS.lineBytes}`)
      const { lines, parquet } = files.get(example.split)!
      await lines.appendFile(line)
      await parquet.append(record)
      written(example)
    }
    for (const { parquet } of files.values()) await parquet.finish()
  } finally {
    for (const { lines } of files.values()) await lines.close()
  }
}

function countsOf({ kinds }: Statistics): Manifest['counts'] {
  const counts = (split: Split): Manifest['counts'][Split] => {
    const tally = kinds.get(split)!
    const [multiTurn, clarification, abstention] = KINDS.map((kind) => tally.get(kind) ?? 0)
    return { examples: sumOf(tally), 'multi-turn': multiTurn!, clarification: clarification!, abstention: abstention! }
  }
  return { train: counts('train'), validation: counts('validation'), 'held-out': counts('held-out') }
}
