import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  type Invitation,
  InvitationError,
  invitationText,
  isInvitationText,
  isSource,
  LIMITS,
  openInvitation,
  PROTOCOL_VERSION,
  PROTOCOLS,
  parseInvitation,
  peerIdOfKey,
  SwarmRefusal,
  sealInvitation,
  topicsOf,
} from '../../../proto/index.js'
import { flightInvitation, frameOf, textOf } from '../../support/invitations.js'
import { keyOf } from '../../support/proto-samples.js'

const L = LIMITS
const runId = peerIdOfKey(await keyOf(1))
const sealed = await sealInvitation(await keyOf(1), flightInvitation)
const text = invitationText(sealed)

async function refused(work: Promise<unknown>): Promise<InvitationError> {
  try {
    await work
  } catch (why) {
    assert.instance(why, InvitationError)
    return why as InvitationError
  }
  throw new Error('it was taken')
}

test('spaces and line breaks around and within an invitation are ignored', async () => {
  assert.equal(await parseInvitation(text), { runId, ...flightInvitation })
  assert.equal(await parseInvitation(` ${text.replaceAll(/(.{60})/g, '$1\r\n  ')}\n`), { runId, ...flightInvitation })
})

const word = fc.string({ maxLength: 40 }).filter(isInvitationText)
const ownPrototype = { noNullPrototype: true } as const
const invitations: fc.Arbitrary<Omit<Invitation, 'runId'>> = fc.record(
  {
    addresses: fc.array(
      fc.oneof(
        fc.ipV4().map((ip) => `/ip4/${ip}/tcp/4001`),
        fc.domain().map((name) => `/dns4/${name}/tcp/65535`),
        fc.constant('/ip6/2001:db8::1/tcp/1'),
      ),
      { minLength: 1, maxLength: L.invitationAddresses.value },
    ),
    base: fc.record(
      {
        name: word.filter((name) => name !== ''),
        sha256: fc.constant(flightInvitation.base.sha256),
        sizeBytes: fc.integer({ min: 1, max: L.blobBytes.value }),
        chunkListSha256: fc.constant(flightInvitation.base.chunkListSha256),
        sources: fc.array(fc.webUrl({ validSchemes: ['https'] }).filter(isSource), { maxLength: L.baseSources.value }),
      },
      ownPrototype,
    ),
    operator: word,
    purpose: word,
  },
  ownPrototype,
)

test('any valid invitation is unchanged after signing and opening', async () => {
  const key = await keyOf(7)
  await fc.assert(
    fc.asyncProperty(invitations, async (invited) => {
      const opened = await parseInvitation(invitationText(await sealInvitation(key, invited)))
      assert.equal(opened, { runId: peerIdOfKey(key), ...invited })
    }),
    { seed: 1, numRuns: 60 },
  )
})

test('every flipped bit of the bytes or of the text is detected', async () => {
  const short = await sealInvitation(await keyOf(1), {
    ...flightInvitation,
    purpose: '',
    addresses: ['/ip4/1.2.3.4/tcp/1'],
  })
  for (let bit = 0; bit < short.length * 8; bit += 1) {
    const flipped = Uint8Array.from(short)
    flipped[bit >> 3]! ^= 1 << (bit & 7)
    const { code } = await refused(openInvitation(flipped))
    assert.ok(code === 'changed' || code === 'cut_off', `bit ${bit}: ${code}`)
  }
  const letters = invitationText(short)
  for (let bit = 0; bit < letters.length * 7; bit += 1) {
    const at = Math.floor(bit / 7)
    const other = String.fromCharCode(letters.charCodeAt(at) ^ (1 << (bit % 7)))
    const code = (await refused(parseInvitation(letters.slice(0, at) + other + letters.slice(at + 1)))).code
    assert.ok(at < 'prove1'.length || code === 'changed' || code === 'cut_off', `letter ${at}, ${other}: ${code}`)
  }
})

test('a truncated invitation is reported as such, at every length', async () => {
  for (let length = 'prove1'.length; length < text.length; length += 1)
    assert.is((await refused(parseInvitation(text.slice(0, length)))).code, 'cut_off', `${length} letters`)
})

test('an invitation followed by other text, and any other text, is refused', async () => {
  assert.is((await refused(parseInvitation(`${text}AAAA`))).code, 'changed')
  assert.is((await refused(parseInvitation(`${text}"`))).code, 'changed')
  for (const other of ['', 'prove', 'https://example.org', '/ip4/203.0.113.5/tcp/4001', text.slice(6)])
    assert.is((await refused(parseInvitation(other))).code, 'not_an_invitation', other)
})

test('the error for another protocol version names both versions and what to do', async () => {
  const content = sealed.subarray(99)
  assert.equal(new Uint8Array(await frameOf(3, content)), sealed, 'the frame is as documented')
  const later = await refused(parseInvitation(textOf(await frameOf(4, new Uint8Array([255, 255])))))
  assert.is(later.code, 'newer')
  assert.match(
    later.message,
    /the run uses protocol version 4, but this program uses version 3: install a newer version/,
  )
  // Field 5, which has the same meaning in all versions, after a field that this version does not know.
  const naming = (needs: string) =>
    Buffer.concat([Buffer.from([0x7a, 1, 0xff]), Buffer.from([0x2a, needs.length]), Buffer.from(needs)])
  const named = async (needs: string) =>
    (await refused(parseInvitation(textOf(await frameOf(4, naming(needs)))))).message
  assert.match(await named('0.12.0'), /program uses version 3: install prove-swarm 0\.12\.0 or newer/)
  assert.match(await named('rm -rf'), /program uses version 3: install a newer version/)
  const earlier = await refused(parseInvitation(textOf(await frameOf(1, content))))
  assert.is(earlier.code, 'older')
  const relabelled = await refused(parseInvitation(textOf(sealed).replace('prove3', 'prove4')))
  assert.is(relabelled.code, 'changed')
})

test('an invitation signed by the run’s key is still checked against all bounds', async () => {
  const content = sealed.subarray(99)
  for (const bytes of [new Uint8Array(), new Uint8Array([255]), Buffer.concat([content, new Uint8Array([56, 1])])])
    assert.is((await refused(openInvitation(await frameOf(3, bytes)))).code, 'malformed')
  const key = await keyOf(1)
  const { base } = flightInvitation
  const bad: readonly Partial<Omit<Invitation, 'runId'>>[] = [
    { addresses: [] },
    { addresses: Array.from({ length: L.invitationAddresses.value + 1 }, () => '/ip4/1.2.3.4/tcp/1') },
    { addresses: [`/dns4/${'a'.repeat(L.addressBytes.value)}/tcp/1`] },
    { operator: 'Ada\u001b[2J' },
    { purpose: 'x'.repeat(L.detailBytes.value + 1) },
    { purpose: 'safe\u202egnihton' },
    { base: { ...base, name: '' } },
    { base: { ...base, name: 'x'.repeat(L.nameBytes.value + 1) } },
    { base: { ...base, sizeBytes: 0 } },
    { base: { ...base, sizeBytes: L.blobBytes.value + 1 } },
    { base: { ...base, sources: ['http://192.168.1.1/reboot'] } },
    { base: { ...base, sources: ['file:///etc/passwd'] } },
    { base: { ...base, sources: ['https://ada:secret@example.org/x'] } },
    { base: { ...base, sources: [`https://example.org/${'x'.repeat(L.sourceBytes.value)}`] } },
    { base: { ...base, sources: Array.from({ length: L.baseSources.value + 1 }, () => 'https://example.org/x') } },
  ]
  for (const change of bad) {
    const why = await sealInvitation(key, { ...flightInvitation, ...change }).then(
      () => null,
      (error: unknown) => error,
    )
    assert.instance(why, SwarmRefusal, JSON.stringify(change).slice(0, 100))
  }
})

test('an invitation with every field at its limit fits its own limit', async () => {
  const full = await sealInvitation(await keyOf(1), {
    addresses: Array.from({ length: L.invitationAddresses.value }, () => `/dns4/${'a'.repeat(249)}/tcp/4001`),
    base: {
      ...flightInvitation.base,
      name: 'x'.repeat(L.nameBytes.value),
      sources: Array.from({ length: L.baseSources.value }, () => `https://h/${'x'.repeat(L.sourceBytes.value - 10)}`),
    },
    operator: 'x'.repeat(L.detailBytes.value),
    purpose: 'x'.repeat(L.detailBytes.value),
  })
  assert.ok(full.length <= L.invitationBytes.value)
})

test('hostile bytes cause an InvitationError and no other error', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
      await refused(openInvitation(bytes))
      await refused(openInvitation(await frameOf(3, bytes)))
    }),
    { seed: 2, numRuns: 100 },
  )
})

test('protocol version 3 has exactly these streams and topics; raise it when they change', () => {
  assert.is(PROTOCOL_VERSION, 3)
  assert.equal(
    [...Object.values(PROTOCOLS), ...Object.values(topicsOf('RUN'))],
    [
      ...['/prove/lease/4', '/prove/group/1', '/prove/snapshot/3', '/prove/verdict/1', '/prove/leaderboard/1'],
      ...['/prove/RUN/policy/4', '/prove/RUN/groups/2/1/0', '/prove/RUN/verdicts/2/1/0', '/prove/RUN/addresses/1'],
    ],
  )
})

test.run()
