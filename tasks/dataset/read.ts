import { join } from 'node:path'
import { type Catalogue, toolsetSchemaSha256 } from '../../rollout/episode/index.js'
import type { Environment } from '../../servers/kernel/index.js'
import { DatasetError } from './errors.js'
import type { Example } from './example.js'
import { type Line, linesOf } from './jsonl-lines.js'
import { badManifest, checkFile, MANIFEST_FILE, type Manifest, readManifest, recordsPath } from './manifest.js'
import { SPLITS, type Split } from './profile.js'
import { type DatasetRecord, exampleOfRecord, parseRecord } from './record.js'

export interface ReadExample {
  readonly line: Line
  readonly record: DatasetRecord
  readonly example: Example
}

/** Reads the examples of a file of records, one by one. @throws DatasetError */
export async function* readExamples(path: string, signal?: AbortSignal): AsyncGenerator<ReadExample> {
  for await (const line of linesOf(path, signal)) {
    const record = parseRecord(line.text, line.where)
    yield { line, record, example: exampleOfRecord(record, line.where) }
  }
}

export interface Dataset {
  readonly folder: string
  readonly manifest: Manifest
  /** Reads the examples of a split, in the order of the data set. @throws DatasetError */
  examples(split: Split): AsyncIterable<Example>
}

export interface OpenDatasetOptions {
  /** Splits to read. Only their files are checked. Default: all. */
  readonly splits?: readonly Split[]
  readonly signal?: AbortSignal
}

/**
 * Opens the folder of a data set. Checks its manifest, the hashes of its files, and that the environments still offer the tools of the data
 * set.
 * @throws DatasetError `missing_file`, `bad_manifest`, `other_schema`, `wrong_hash`, `other_tools`
 */
export async function openDataset(
  folder: string,
  catalogue: Catalogue,
  { splits = SPLITS, signal }: OpenDatasetOptions = {},
): Promise<Dataset> {
  const manifest = await readManifest(folder)
  checkTools(folder, manifest, catalogue)
  for (const split of splits) await checkFile(folder, manifest, recordsPath(split), signal)
  return {
    folder,
    manifest,
    examples(split) {
      if (!splits.includes(split)) throw new RangeError(`the split ${split} was not opened: name it in \`splits\``)
      return examplesOf(folder, manifest, split, signal)
    },
  }
}

async function* examplesOf(
  folder: string,
  manifest: Manifest,
  split: Split,
  signal: AbortSignal | undefined,
): AsyncGenerator<Example> {
  let count = 0
  for await (const { example, line } of readExamples(join(folder, recordsPath(split)), signal)) {
    if (example.split !== split)
      throw badManifest(join(folder, MANIFEST_FILE), `${line.where} belongs to the split ${example.split}`)
    count++
    yield example
  }
  const { examples } = manifest.counts[split]
  if (count !== examples)
    throw badManifest(
      join(folder, MANIFEST_FILE),
      `it counts ${examples} examples in ${split}, and the file has ${count}`,
    )
}

function checkTools(folder: string, manifest: Manifest, catalogue: Catalogue): void {
  const advice = 'Use the version of this program that made the data set, or make the data set again.'
  const refuse = (problem: string, what = advice): never => {
    throw new DatasetError('other_tools', `${folder}: ${problem}. ${what}`)
  }
  const environments = manifest.environments.map(
    (name) =>
      catalogue.get(name) ??
      refuse(`no environment ${name}`, `If it is your own environment, name its folder with --environments. ${advice}`),
  )
  const sha256 = toolsetSchemaSha256(environments)
  if (sha256 !== manifest.toolset_schema_sha256)
    refuse(
      `the tools of its environments have the hash ${manifest.toolset_schema_sha256}, and here they have ${sha256}${ownCode(environments)}`,
    )
}

/** Returns a hint that code of own environments is part of the hash. */
function ownCode(environments: readonly Environment[]): string {
  const own = environments.filter(({ codeSha256 }) => codeSha256 !== undefined).map(({ name }) => name)
  return own.length === 0 ? '' : `, which includes the code of ${own.join(', ')}`
}
