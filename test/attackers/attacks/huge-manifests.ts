import { LIMITS, policyManifest, sealEnvelope } from '../../../proto/index.js'
import { encodeFields, fieldsOf } from '../../support/wire-mutations.js'
import { strangeFiles, updateCode, volunteerAttack } from '../victim.js'

const BLOB = 5
const SIZE = 3
const CHUNKS = 5

const double = (value: number): Uint8Array => new Uint8Array(new Float64Array([value]).buffer)
/** One adapter that fills every disk; a list of chunks beyond all limits; a manifest that is too large as a whole. */
const KINDS = ['size', 'chunks', 'padding'] as const

export const hugeManifests = volunteerAttack({
  name: 'huge-manifests',
  about: 'publishes a manifest of an adapter of a petabyte, of a million chunks, or of gigabytes',
  run: 'own',
  async carryOut(scene, i, signal) {
    const kind = KINDS[i % KINDS.length]!
    const { sealed } = await scene.arena.policies.newest(signal)
    const fields = fieldsOf(policyManifest.encode(sealed.manifest)).map((field) => {
      if (field.number !== BLOB || kind === 'padding') return field
      const content = encodeFields(
        fieldsOf(field.content).map((part) => {
          if (part.number === SIZE && kind === 'size') return { ...part, content: double(2 ** 50) }
          if (part.number === CHUNKS && kind === 'chunks') return { ...part, content: new Uint8Array(900_000) }
          return part
        }),
      )
      return { ...field, content }
    })
    const payload = encodeFields(fields)
    const { key, host } = scene.attacker
    const envelope =
      kind === 'padding'
        ? new Uint8Array(2 * LIMITS.manifestBytes.value)
        : await sealEnvelope(key, 'blobBytes', { kind: 'policy-manifest', runId: host.peerId, payload })
    scene.answer = async () => envelope
    const code = await updateCode(scene, signal)
    return [
      ...(code === null || scene.victim.keeper.loaded !== null ? ['it was loaded'] : []),
      ...(scene.victim.refusals.length === 0 ? [`not refused: ${code}`] : []),
      ...(await strangeFiles(scene)),
    ]
  },
})
