import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { modelCard } from '../../../node/adapters/model-card.js'
import { checkPulledFolder, MANIFEST_FILE } from '../../../node/adapters/pulled-folder.js'
import { NodeError } from '../../../node/report/errors.js'
import {
  type BlobRole,
  PUBLISHED_FILES,
  peerIdOfKey,
  policyIdOf,
  type SealedManifest,
  sealManifest,
  sha256,
} from '../../../proto/index.js'
import { flightManifest, flightPolicy, keyOf } from '../../support/proto-samples.js'

const { signal } = new AbortController()
const key = await keyOf(5)
const other = await keyOf(6)
const idOf = peerIdOfKey
const folders: string[] = []
test.after(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

/** A folder as pulling makes it. */
async function pulled(): Promise<{ folder: string; sealed: SealedManifest }> {
  const folder = await mkdtemp(join(tmpdir(), 'prove-pulled-'))
  folders.push(folder)
  const blobs = []
  for (const { role, name } of PUBLISHED_FILES) {
    const content = new TextEncoder().encode(`what is in ${name}`)
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), content)
    const hash = sha256(content)
    blobs.push({ role: role as BlobRole, sha256: hash, sizeBytes: content.length, chunkSha256s: [hash] })
  }
  const adapter = { ...flightPolicy.adapter!, sha256: blobs[0]!.sha256, sizeBytes: blobs[0]!.sizeBytes }
  const policy = { ...flightPolicy, adapter }
  const manifest = { ...flightManifest, policy, policyId: policyIdOf(policy), blobs }
  const sealed = await sealManifest(key, idOf(key), manifest)
  await writeFile(join(folder, MANIFEST_FILE), sealed.envelope)
  return { folder, sealed }
}

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const why = await work.catch((error: unknown) => error)
  assert.instance(why, NodeError)
  return (why as NodeError).code
}

test('an unchanged folder passes, with the run that signed it', async () => {
  const { folder, sealed } = await pulled()
  const found = await checkPulledFolder(folder, idOf(key), signal)
  assert.equal([found.run, found.sealed.manifestId], [idOf(key), sealed.manifestId])
  assert.equal(
    found.files.map(({ name, outcome }) => [name, outcome]),
    PUBLISHED_FILES.map(({ name }) => [name, 'ok']),
  )
  assert.equal(found.unsigned, [])
})

test('exactly the files that are changed, cut, removed or replaced by a folder are named', async () => {
  const damages = {
    longer: (path: string) => appendFile(path, '!'),
    'of the same length': async (path: string) => writeFile(path, 'X'.repeat((await readFile(path)).length)),
    gone: (path: string) => rm(path),
    'a folder': async (path: string) => {
      await rm(path)
      await mkdir(path)
    },
  }
  for (const [damage, harm] of Object.entries(damages)) {
    for (const { name, evidence } of PUBLISHED_FILES) {
      const { folder } = await pulled()
      await harm(join(folder, name))
      const { files } = await checkPulledFolder(folder, null, signal)
      const wrong = files.filter(({ outcome }) => outcome !== 'ok')
      assert.equal(
        wrong.map((file) => [file.name, file.outcome]),
        damage !== 'gone' ? [[name, 'changed']] : evidence ? [] : [[name, 'missing']],
        `${name} ${damage}`,
      )
    }
  }
})

test('a folder fails with a manifest that is changed, missing or of another run', async () => {
  const { folder, sealed } = await pulled()
  assert.is(await codeOf(checkPulledFolder(folder, idOf(other), signal)), 'bad_folder')
  const forged = await sealManifest(other, idOf(key), sealed.manifest)
  await writeFile(join(folder, MANIFEST_FILE), forged.envelope)
  assert.is(
    await codeOf(checkPulledFolder(folder, null, signal)),
    'bad_folder',
    'signed by a key that is not the run’s',
  )
  for (const at of [0, 40, sealed.envelope.length >> 1, sealed.envelope.length - 1]) {
    const bent = Uint8Array.from(sealed.envelope)
    bent[at]! ^= 1
    await writeFile(join(folder, MANIFEST_FILE), bent)
    assert.is(await codeOf(checkPulledFolder(folder, null, signal)), 'bad_folder', `byte ${at}`)
  }
  await rm(join(folder, MANIFEST_FILE))
  assert.is(await codeOf(checkPulledFolder(folder, null, signal)), 'bad_folder')
})

test('other entries of the folder are listed as not signed', async () => {
  const { folder } = await pulled()
  await writeFile(join(folder, 'adapter_model.bin'), 'a pickle')
  assert.equal((await checkPulledFolder(folder, null, signal)).unsigned, ['adapter_model.bin'])
})

const SCORE = { reward: { mean: 0.5, stderr: 0.05 }, solved: { mean: 0.25, stderr: 0.01 } }

test('a card contains only facts of the signed files', async () => {
  const { sealed } = await pulled()
  const named = { ...sealed, manifest: { ...sealed.manifest, policy: { ...sealed.manifest.policy } } }
  const bare = modelCard(named, null)
  assert.match(bare, /The provenance was not available/)
  assert.not.match(bare, /\| `rewardMean`/)
  const provenance = {
    ...{ schema: 2 as const, step: 2, tasks: { dataset: 'd', examples: 9 }, volunteers: 3 },
    measured: { rewardMean: 0.51234567 },
    heldOut: [{ version: 1, tasks: 50, ...SCORE, calls: 2.25 }],
    steps: [
      { step: 1, groups: 4, recipe: 0 },
      { step: 2, groups: 5, recipe: 1 },
    ],
    recipes: [1e-3, 1e-4].map((lr) => ({ settings: { optimizer: { lr } }, program: {} })),
  }
  const card = modelCard(named, provenance)
  assert.match(card, /2 steps up to step 2, 9 groups of rollouts, 3 volunteers/)
  assert.match(card, /learning rate \| 0\.0001 in the last step/)
  assert.match(card, /`rewardMean` \| 0\.512346/)
  assert.match(card, /no score of this version/)
  assert.match(card, /\| 1 \| 50 \| 0\.500 \(0\.400 to 0\.600\) \| 0\.250 \(0\.151 to 0\.385\) \| 2\.3 \|/)
  assert.not.match(modelCard(named, { ...provenance, heldOut: [] }), /95 % intervals/)
  assert.match(modelCard(named, { ...provenance, step: 0 }), /no step was trained/)
})

test.run()
