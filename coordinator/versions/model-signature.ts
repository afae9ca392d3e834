import type { PrivateKey } from '@libp2p/interface'
import { type Sha256, sha256 } from '../../proto/index.js'
import { publicationKey } from './run-certificate.js'

export interface SignedModel {
  /** For people: nothing is decided by it. */
  readonly name: string
  readonly version: number
  readonly atMs: number
  /** By their names in a researcher's folder. */
  readonly files: readonly { readonly name: string; readonly sha256: Sha256 }[]
}

const PAYLOAD_TYPE = 'application/vnd.in-toto+json'

/**
 * Files that lie in a published folder beside what is signed: the signature itself, the manifest that names it, the card that is made
 * of that, and what the hub and git put there.
 */
const IGNORED = ['model.sig', 'manifest.sealed', 'README.md', '.git', '.gitattributes', '.github', '.gitignore']

/**
 * A signature by OpenSSF Model Signing 1.0 (github.com/ossf/model-signing-spec, `spec/v1.0.md`), method `certificate`: a sigstore bundle of
 * a DSSE envelope of an in-toto statement that lists every file with its hash. Whoever trusts the run's certificate can check it.
 * @param key  the run's
 * @returns  what `model.sig` holds
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

/** What a DSSE envelope signs (github.com/secure-systems-lab/dsse, `protocol.md`). */
const preAuthentication = (payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`DSSEv1 ${PAYLOAD_TYPE.length} ${PAYLOAD_TYPE} ${payload.length} `), payload])
