import { X509Certificate } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { LIMITS, peerIdOfPublicKey } from '../../proto/index.js'
import { NodeError } from '../report/errors.js'
import { readBounded } from './read-bounded.js'

/** File of the run's signature for OpenSSF Model Signing. */
export const SIGNATURE_FILE = 'model.sig'

/** The fields of a signature that are read here. */
const bundleShape = z.object({
  verificationMaterial: z.object({
    x509CertificateChain: z.object({ certificates: z.array(z.object({ rawBytes: z.base64() })).length(2) }),
  }),
})

/**
 * Extracts the run's certificate from the `model.sig` of a folder, for verifiers of OpenSSF Model Signing. All publications of a run have
 * the same certificate, because its key is the run's key.
 * @param run  peer id of the run's key
 * @returns PEM
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
    throw bad('it is not a signature with the certificate of a run', cause)
  }
  const { publicKey } = certificate
  if (publicKey.asymmetricKeyType !== 'ed25519' || !certificate.verify(publicKey))
    throw bad('its certificate is not signed by the key of a run')
  const { x } = publicKey.export({ format: 'jwk' })
  const signer = peerIdOfPublicKey(Buffer.from(x!, 'base64url'))
  if (signer !== run) throw bad(`its certificate belongs to ${signer}, not to the run ${run}`)
  return certificate.toString()
}
