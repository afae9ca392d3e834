import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { LIMITS, peerIdOfPublicKey } from '../../proto/index.js'
import { NodeError } from '../report/errors.js'
import { readBounded } from './read-bounded.js'

/** The signature by OpenSSF Model Signing, as the run has made it. */
export const SIGNATURE_FILE = 'model.sig'

/** What is read of it here; everything else is for the verifier whose format it is. */
const bundleShape = z.object({
  verificationMaterial: z.object({
    x509CertificateChain: z.object({ certificates: z.array(z.object({ rawBytes: z.base64() })).length(2) }),
  }),
})

/**
 * The run's certificate out of a folder's `model.sig`, for verifiers of OpenSSF Model Signing: its key is the run's own, so it is the same
 * in all publications and can be kept.
 * @param run  peer id of the run's key
 * @returns  PEM
 * @throws NodeError `bad_folder`
 */
export async function runCertificate(folder: string, run: string): Promise<string> {
  const path = join(folder, SIGNATURE_FILE)
  const bad = (why: string, cause?: unknown): NodeError => new NodeError('bad_folder', `${path}: ${why}`, { cause })
  const text = Buffer.from(await readBounded(path, LIMITS.blobMetadataBytes.value)).toString('utf8')
  let certificate: X509Certificate
  try {
    const { verificationMaterial } = bundleShape.parse(JSON.parse(text))
    const [, issuer] = verificationMaterial.x509CertificateChain.certificates
    certificate = new X509Certificate(Buffer.from(issuer!.rawBytes, 'base64'))
  } catch (cause) {
    throw bad('it is no signature with the certificate of a run', cause)
  }
  const { publicKey } = certificate
  if (publicKey.asymmetricKeyType !== 'ed25519' || !certificate.verify(publicKey))
    throw bad('its certificate is not signed by a run')
  const { x } = publicKey.export({ format: 'jwk' })
  const signer = peerIdOfPublicKey(Buffer.from(x!, 'base64url'))
  if (signer !== run) throw bad(`its certificate is of ${signer}, and not of the run ${run}`)
  return certificate.toString()
}
