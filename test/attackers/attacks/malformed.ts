import { randomBytes } from 'node:crypto'
import {
  groupRequest,
  leaderboardRequest,
  leaseRequest,
  PROTOCOLS,
  type ProtocolName,
  sealEnvelope,
  snapshotRequest,
  verdictRequest,
} from '../../../proto/index.js'
import { encodeFields, fieldsOf } from '../../support/wire-mutations.js'
import type { Arena } from '../arena.js'
import { networkAttack } from '../network-attack.js'
import type { Participant } from '../participant.js'
import { framed, sendRaw } from '../raw-requests.js'

/** A good request of each protocol. */
const GOOD = {
  lease: leaseRequest.encode({ kind: 'renew', leaseIds: ['ab'.repeat(16)] }),
  group: groupRequest.encode({ kind: 'fetch', bodySha256: 'ab'.repeat(32) }),
  leaderboard: leaderboardRequest.encode({ peerId: '12D3KooWhelper' }),
  verdict: verdictRequest.encode({ cursor: 1, max: 8 }),
  snapshot: snapshotRequest.encode({ id: 1, want: { kind: 'chunk', blobSha256: 'ab'.repeat(32), index: 0 } }),
} satisfies Readonly<Record<ProtocolName, Uint8Array>>
const SHARE = snapshotRequest.encode({
  id: 1,
  want: { kind: 'share', blobSha256: 'ab'.repeat(32), wanted: new Uint8Array(8).fill(0xff) },
})
const REQUESTS: readonly (readonly [ProtocolName, Uint8Array])[] = [
  ...(Object.keys(PROTOCOLS) as ProtocolName[]).map((name) => [name, GOOD[name]] as const),
  ['snapshot', SHARE],
]

/** Ways to spoil a message that leave nothing which could be taken for a good one. */
const SPOILS: readonly ((good: Uint8Array) => Uint8Array)[] = [
  () => randomBytes(120),
  () => new Uint8Array(120).fill(0xff),
  (good) => good.subarray(0, good.length - 1),
  (good) => encodeFields([...fieldsOf(good), ...fieldsOf(good)]),
  (good) => encodeFields([...fieldsOf(good), { number: 15, wire: 2, content: new Uint8Array(3) }]),
  (good) => encodeFields(fieldsOf(good).map((field) => ({ ...field, wire: field.wire === 2 ? 0 : 2 }))),
  (good) => encodeFields(fieldsOf(good).map((field) => ({ ...field, number: 0 }))),
]

/** Envelopes that are well-formed and yet nobody's word: random, of another run, of another kind, signed for other bytes. */
async function envelopes({ run }: Arena, node: Participant): Promise<Uint8Array[]> {
  const seal = (kind: 'group-announcement' | 'verdict-digest', runId: string): Promise<Uint8Array> =>
    sealEnvelope(node.key, 'announcementBytes', { kind, runId, payload: randomBytes(40) })
  const broken = await seal('group-announcement', run.runId)
  broken[broken.length - 1]! ^= 1
  return [
    await seal('group-announcement', run.runId),
    await seal('group-announcement', node.peerId),
    await seal('verdict-digest', run.runId),
    broken,
  ]
}

export const malformed = networkAttack({
  name: 'malformed',
  about: 'sends random, cut, doubled, mistyped and wrongly signed messages to every protocol',
  messages: REQUESTS.length * SPOILS.length + 4,
  async carryOut(arena, node) {
    const missed: string[] = []
    for (const [name, good] of REQUESTS) {
      for (const [k, spoil] of SPOILS.entries()) {
        const answer = await sendRaw(node, name, framed(spoil(good)))
        if (answer === 'answered' || answer === 'internal') missed.push(`${name} ${k}: ${answer}`)
      }
    }
    for (const [k, announcement] of (await envelopes(arena, node)).entries()) {
      const answer = await sendRaw(node, 'group', framed(groupRequest.encode({ kind: 'offer', announcement })))
      if (answer === 'answered' || answer === 'internal') missed.push(`envelope ${k}: ${answer}`)
    }
    return missed
  },
})
