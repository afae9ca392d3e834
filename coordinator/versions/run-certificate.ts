import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto'
import type { PrivateKey } from '@libp2p/interface'
import { p256 } from '@noble/curves/nist.js'
import { AsnConvert, OctetString } from '@peculiar/asn1-schema'
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_kp_codeSigning,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from '@peculiar/asn1-x509'
import { peerIdOfKey } from '../../proto/index.js'

/** A key that signs one publication, with its certificates. */
export interface PublicationKey {
  /** Signs with ECDSA over P-256 and SHA-256. @returns  DER; always the same for the same bytes (RFC 6979) */
  sign(bytes: Uint8Array): Uint8Array
  /** DER: the certificate of the key, and the certificate of the run that issued it. */
  readonly chain: readonly [Buffer, Buffer]
}

const ED25519 = '1.3.101.112'
const COMMON_NAME = '2.5.4.3'
const SERIAL_BYTES = 16
const SEED_BYTES = 32
/** Sixteen bytes more than a key has, so that all keys are equally likely (FIPS 186-5, appendix A.2.1). */
const P256_SEED_BYTES = 48
/** No meaningful expiry (RFC 5280, section 4.1.2.5): a signature stays valid as long as the version exists. */
const FOREVER = new Date('9999-12-31T23:59:59Z')
/** Constant, and before any run, so that the certificate of a run is the same in all its publications. */
const RUN_CERTIFICATE_FROM = new Date('2020-01-01T00:00:00Z')

/**
 * Makes a key for one publication and certifies it with the run's key. Verifiers of models only accept NIST curves for signatures, but
 * accept Ed25519, which a run's key is, for issuers of certificates. The key makes one signature and is not stored. It is derived from
 * the run's key, so that a publication always has the same bytes.
 * @param key  key of the run, Ed25519
 */
export function publicationKey(key: PrivateKey, version: number, atMs: number): PublicationKey {
  const runKey = keyObjectOf(key)
  const runPublic = createPublicKey(runKey).export({ type: 'spki', format: 'der' })
  const secret = p256.utils.randomSecretKey(
    new Uint8Array(hkdfSync('sha256', seedOf(key), '', `prove/publication-key/1 ${version} ${atMs}`, P256_SEED_BYTES)),
  )
  const run = nameOf(`PROVE run ${peerIdOfKey(key)}`)
  const ofRun = certificate(runKey, {
    issuer: run,
    subject: run,
    publicKey: runPublic,
    validity: [RUN_CERTIFICATE_FROM, FOREVER],
    extensions: [
      extension(id_ce_basicConstraints, new BasicConstraints({ cA: true, pathLenConstraint: 0 })),
      extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.keyCertSign)),
    ],
  })
  const ofPublication = certificate(runKey, {
    issuer: run,
    subject: nameOf(`Version ${version} of a PROVE run`),
    publicKey: spkiOf(p256.getPublicKey(secret, false)),
    // Certificates have no fractions of a second, so the start is rounded down.
    validity: [new Date(Math.floor(atMs / 1000) * 1000), FOREVER],
    extensions: [
      extension(id_ce_basicConstraints, new BasicConstraints({ cA: false })),
      extension(id_ce_keyUsage, new KeyUsage(KeyUsageFlags.digitalSignature)),
      extension(id_ce_extKeyUsage, new ExtendedKeyUsage([id_kp_codeSigning])),
    ],
  })
  return { sign: (bytes) => p256.sign(bytes, secret, { format: 'der', lowS: false }), chain: [ofPublication, ofRun] }
}

const base64url = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')

function seedOf({ type, raw }: PrivateKey): Uint8Array {
  if (type !== 'Ed25519') throw new TypeError(`the key of a run is Ed25519, not ${type}`)
  return raw.subarray(0, SEED_BYTES)
}

function keyObjectOf(key: PrivateKey): KeyObject {
  const [seed, point] = [seedOf(key), key.raw.subarray(SEED_BYTES)]
  return createPrivateKey({
    key: { kty: 'OKP', crv: 'Ed25519', d: base64url(seed), x: base64url(point) },
    format: 'jwk',
  })
}

/** Returns the SubjectPublicKeyInfo of a point. @param point  of P-256, uncompressed: a prefix byte and both coordinates */
function spkiOf(point: Uint8Array): Buffer {
  const [x, y] = [point.subarray(1, 33), point.subarray(33)]
  const key = createPublicKey({
    key: { kty: 'EC', crv: 'P-256', x: base64url(x), y: base64url(y) },
    format: 'jwk',
  })
  return key.export({ type: 'spki', format: 'der' })
}

const nameOf = (text: string): Name =>
  new Name([
    new RelativeDistinguishedName([
      new AttributeTypeAndValue({ type: COMMON_NAME, value: new AttributeValue({ utf8String: text }) }),
    ]),
  ])

const extension = (id: string, value: object): Extension =>
  new Extension({ extnID: id, critical: true, extnValue: new OctetString(AsnConvert.serialize(value)) })

interface CertificateContent {
  readonly issuer: Name
  readonly subject: Name
  /** DER of the SubjectPublicKeyInfo. */
  readonly publicKey: Buffer
  readonly validity: readonly [from: Date, to: Date]
  readonly extensions: readonly Extension[]
}

/** Makes a certificate. @returns  DER of a version 3 certificate (RFC 5280), signed with Ed25519 (RFC 8410) */
function certificate(
  issuerKey: KeyObject,
  { issuer, subject, publicKey, validity: [notBefore, notAfter], extensions }: CertificateContent,
): Buffer {
  const algorithm = new AlgorithmIdentifier({ algorithm: ED25519 })
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialOf(publicKey),
    signature: algorithm,
    issuer,
    validity: new Validity({ notBefore, notAfter }),
    subject,
    subjectPublicKeyInfo: AsnConvert.parse(publicKey, SubjectPublicKeyInfo),
    extensions: new Extensions([...extensions]),
  })
  const signed = Buffer.from(AsnConvert.serialize(tbsCertificate))
  const signatureValue = sign(null, signed, issuerKey)
  return Buffer.from(
    AsnConvert.serialize(
      new Certificate({
        tbsCertificate,
        signatureAlgorithm: algorithm,
        signatureValue: new Uint8Array(signatureValue).buffer,
      }),
    ),
  )
}

/** Returns the serial number of a key: positive, and without a leading zero byte. */
function serialOf(publicKey: Buffer): ArrayBuffer {
  const serial = new Uint8Array(createHash('sha256').update(publicKey).digest()).slice(0, SERIAL_BYTES)
  serial[0] = (serial[0]! & 0x3f) | 0x40
  return serial.buffer
}
