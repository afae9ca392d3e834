import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { sha256 } from '../../proto/index.js'
import { openSnapshotSource } from '../../swarm/snapshot-source.js'
import { noise, soon } from '../support/swarm-nodes.js'
import { runSuite } from './run-suite.js'

const { test } = runSuite('what a coordinator sends')

const FILE_BYTES = 64 * 1024
const STREAMS = 4

for (const [uploadKiB, expected] of [
  [64, 'busy'],
  [undefined, 'ok'],
] as const)
  test(`with ${uploadKiB === undefined ? 'no limit' : `${uploadKiB} KiB/s`} in run.yaml, a request during large uploads is answered with ${expected}`, async ({
    open,
  }) => {
    const run = await open(uploadKiB === undefined ? {} : { uploadKiB })
    const volunteer = await run.volunteer(2)
    const content = noise(FILE_BYTES)
    const hash = sha256(content)
    const path = join(run.folder, 'file')
    await writeFile(path, content)
    const blob = { role: 'base', sha256: hash, sizeBytes: FILE_BYTES, chunkSha256s: [hash] } as const
    run.coordinator.snapshots.offerFile(blob, path)

    const source = () => openSnapshotSource(volunteer.host, run.swarm.runId, soon())
    const sources = await Promise.all(Array.from({ length: STREAMS }, source))
    // A slow transfer within the limit. The first slices are granted at once.
    const chunk = { kind: 'chunk', blobSha256: hash, index: 0 } as const
    const coming = sources.map((one) => one.ask(chunk).catch(() => null))
    const probe = await source()
    let status = (await probe.ask({ kind: 'newest-manifest' })).status
    if (uploadKiB === undefined) for (const answer of await Promise.all(coming)) assert.is(answer?.status, 'ok')
    // Manifests sent before the limit is used up are a small part of it.
    else while (status !== 'busy') status = (await probe.ask({ kind: 'newest-manifest' })).status
    assert.is(status, expected)
    for (const one of [...sources, probe]) one.close()
  })

test.run()
