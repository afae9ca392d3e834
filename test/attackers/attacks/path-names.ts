import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { policyManifest, sealEnvelope } from '../../../proto/index.js'
import { encodeFields, fieldsOf } from '../../support/wire-mutations.js'
import { strangeFiles, updateCode, volunteerAttack } from '../victim.js'

const BLOB = 5
const ROLE = 1
const HASH = 2
const PATH = Buffer.from('../../../../../../tmp/prove-was-here'.padEnd(64, 'x'))

export const pathNames = volunteerAttack({
  name: 'path-names',
  about: 'publishes files whose role or hash is a path outside the volunteer’s folder',
  run: 'own',
  async carryOut(scene, i, signal) {
    const { sealed } = await scene.arena.policies.newest(signal)
    const number = i % 2 === 0 ? HASH : ROLE
    const payload = encodeFields(
      fieldsOf(policyManifest.encode(sealed.manifest)).map((field) => {
        if (field.number !== BLOB) return field
        const parts = fieldsOf(field.content)
        // As long as a hash: its length alone must not be what saves the volunteer.
        const path = number === HASH ? PATH.subarray(0, 32) : PATH
        return {
          ...field,
          content: encodeFields(parts.map((part) => (part.number === number ? { ...part, content: path } : part))),
        }
      }),
    )
    const { key, host } = scene.attacker
    const envelope = await sealEnvelope(key, 'manifestBytes', { kind: 'policy-manifest', runId: host.peerId, payload })
    scene.answer = async (want) => (want.kind === 'chunk' ? PATH : envelope)
    const parent = join(scene.victim.store.directory, '..')
    const before = await readdir(parent)
    const code = await updateCode(scene, signal)
    const after = await readdir(parent)
    return [
      ...(code === null || scene.victim.keeper.loaded !== null ? ['it was loaded'] : []),
      ...(after.length === before.length ? [] : ['there are new files beside its folder']),
      ...(await strangeFiles(scene)),
    ]
  },
})
