import type { PrivateKey } from '@libp2p/interface'
import { PUBLISHED_FILES, type Sha256, sha256 } from '../../proto/index.js'
import { publicationKey } from './run-certificate.js'

/** A published model to sign. */
export interface SignedModel {
  /** Name for people. */
  readonly name: string
  readonly version: number
  readonly atMs: number
  /** Files by their published names. */
  readonly files: readonly { readonly name: string; readonly sha256: Sha256 }[]
}

const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

/**
 * Unsigned files in a published folder: the signature itself, the manifest that names it, the model card, files of the hub and of git, and
 * the notes that `hf download` leaves in the folder. The manifest signs the evidence, which most folders do not have.
 */
const IGNORED = [
  ...['model.sig', 'manifest.sealed', 'README.md'],
  ...['.cache/huggingface', '.git', '.gitattributes', '.github', '.gitignore'],
  ...PUBLISHED_FILES.flatMap(({ name, evidence }) => (evidence ? [name] : [])),
]

/**
 * Signs a model by OpenSSF Model Signing 1.0 (github.com/ossf/model-signing-spec, `spec/v1.0.md`), method `certificate`. The signature is
 * a sigstore bundle with a DSSE envelope of an in-toto statement that lists every file with its hash. It can be verified with the run's
 * certificate.
 * @param key  key of the run
 * @returns  the content of `model.sig`
 */
export function modelSignature(key: PrivateKey, { name, version, atMs, files }: SignedModel): Uint8Array {
  const { sign, chain } = publicationKey(key, version, atMs)
  const resources = files
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map((file) => ({ name: file.name, algorithm: 'sha256', digest: file.sha256 }))
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name, digest: { sha256: sha256(Buffer.from(resources.map(({ digest }) => digest).join(''), 'hex')) } }],
    predicateType: 'https://model_signing/signature/v1.0',
    predicate: {
      resources,
      serialization: { method: 'files', hash_type: 'sha256', allow_symlinks: false, ignore_paths: IGNORED },
    },
  }
  const payload = Buffer.from(JSON.stringify(statement))
  const bundle = {
    mediaType: 'application/vnd.dev.sigstore.bundle.v0.3+json',
    verificationMaterial: {
      x509CertificateChain: { certificates: chain.map((der) => ({ rawBytes: der.toString('base64') })) },
      tlogEntries: [],
    },
    dsseEnvelope: {
      payload: payload.toString('base64'),
      payloadType: PAYLOAD_TYPE,
      signatures: [{ sig: Buffer.from(sign(preAuthentication(payload))).toString('base64'), keyid: '' }],
    },
  }
  return Buffer.from(`${JSON.stringify(bundle)}\n`)
}

/** Returns the bytes that a DSSE envelope signs (github.com/secure-systems-lab/dsse, `protocol.md`). */
const preAuthentication = (payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload])
