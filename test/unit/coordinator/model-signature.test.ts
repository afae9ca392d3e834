import { verify, X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { modelSignature } from '../../../coordinator/versions/model-signature.js'
import { runCertificate, SIGNATURE_FILE } from '../../../node/adapters/run-certificate.js'
import { NodeError } from '../../../node/report/errors.js'
import { peerIdOfKey, sha256 } from '../../../proto/index.js'
import { hash, keyOf } from '../../support/proto-samples.js'

const key = await keyOf(5)
const folder = await mkdtemp(join(tmpdir(), 'prove-signature-'))
test.after(() => rm(folder, { recursive: true, force: true }))

const AT = Date.UTC(2026, 2, 4, 5, 6, 7, 890)
const files = ['base/config.json', 'adapter.gguf', 'adapter_config.json'].map((name) => ({ name, sha256: hash(name) }))
const signed = (version = 3): string =>
  Buffer.from(modelSignature(key, { name: 'flight-clerk', version, atMs: AT, files })).toString()

const opened = (text: string) => {
  const { verificationMaterial, dsseEnvelope } = JSON.parse(text)
  const { certificates } = verificationMaterial.x509CertificateChain
  const [leaf, run] = certificates.map(({ rawBytes }: { rawBytes: string }) => Buffer.from(rawBytes, 'base64'))
  const payload = Buffer.from(dsseEnvelope.payload, 'base64')
  const signature = Buffer.from(dsseEnvelope.signatures[0].sig, 'base64')
  return { leaf: new X509Certificate(leaf), run: new X509Certificate(run), payload, signature }
}

test('the same publication has the same signature each time it is made, and another one another key', () => {
  assert.is(signed(), signed())
  assert.not.equal(
    opened(signed()).leaf.publicKey.export({ type: 'spki', format: 'der' }),
    opened(signed(4)).leaf.publicKey.export({ type: 'spki', format: 'der' }),
  )
})

test('a publication is signed by a key that the run’s own has certified, for signing and for nothing else', () => {
  const { leaf, run, payload, signature } = opened(signed())
  const envelope = Buffer.concat([Buffer.from(`DSSEv1 28 application/vnd.in-toto+json ${payload.length} `), payload])
  assert.ok(verify('sha256', envelope, leaf.publicKey, signature))
  assert.not.ok(verify('sha256', payload, leaf.publicKey, signature))
  assert.equal(
    [leaf.publicKey.asymmetricKeyType, leaf.publicKey.asymmetricKeyDetails],
    ['ec', { namedCurve: 'prime256v1' }],
  )
  assert.ok(leaf.verify(run.publicKey) && leaf.checkIssued(run) && run.verify(run.publicKey))
  assert.equal([leaf.ca, run.ca], [false, true])
  assert.is(run.subject, `CN=PROVE run ${peerIdOfKey(key)}`)
  assert.equal(Buffer.from(run.publicKey.export({ format: 'jwk' }).x!, 'base64url'), Buffer.from(key.publicKey.raw))
  assert.is(Date.parse(leaf.validFrom), Math.floor(AT / 1000) * 1000)
})

test('its statement lists every file in the order of the names, with one hash over all', () => {
  const { subject, predicate, predicateType } = JSON.parse(opened(signed()).payload.toString())
  const names = ['adapter.gguf', 'adapter_config.json', 'base/config.json']
  assert.is(predicateType, 'https://model_signing/signature/v1.0')
  assert.equal(
    predicate.resources,
    names.map((name) => ({ name, algorithm: 'sha256', digest: hash(name) })),
  )
  const all = Buffer.concat(names.map((name) => Buffer.from(hash(name), 'hex')))
  assert.equal(subject, [{ name: 'flight-clerk', digest: { sha256: sha256(all) } }])
})

test('the run’s certificate is the same in every publication, the key of the publication in none', () => {
  const [one, two] = [opened(signed(3)), opened(signed(4))]
  assert.is(one.run.toString(), two.run.toString())
  assert.is.not(one.leaf.fingerprint256, two.leaf.fingerprint256)
})

test('a folder yields the certificate of its run, and of no other', async () => {
  const path = join(folder, SIGNATURE_FILE)
  const text = signed()
  await writeFile(path, text)
  const run = peerIdOfKey(key)
  assert.is(await runCertificate(folder, run), opened(text).run.toString())
  const refused = async (ofRun: string, why: RegExp): Promise<void> => {
    const error = await runCertificate(folder, ofRun).catch((thrown: unknown) => thrown)
    assert.instance(error, NodeError)
    assert.match((error as NodeError).detail, why)
  }
  await refused(peerIdOfKey(await keyOf(6)), /not to the run/)
  const bundle = JSON.parse(text)
  const { certificates } = bundle.verificationMaterial.x509CertificateChain
  await writeFile(
    path,
    JSON.stringify({
      ...bundle,
      verificationMaterial: { x509CertificateChain: { certificates: [certificates[1], certificates[0]] } },
    }),
  )
  await refused(run, /not signed by the key of a run/)
  for (const broken of ['', '{}', text.slice(0, -9), text.replaceAll('"rawBytes":"MII', '"rawBytes":"AII')]) {
    await writeFile(path, broken)
    await refused(run, /not a signature with the certificate of a run|not signed by the key of a run/)
  }
  await rm(path)
  await refused(run, /does not exist/)
})

test.run()
