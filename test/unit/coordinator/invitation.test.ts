import decodeQR from 'qr/decode.js'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { qrCode } from '../../../coordinator/commands/invitation.js'
import { invitationText, sealInvitation } from '../../../proto/index.js'
import { addressesForOthers } from '../../../swarm/index.js'
import { flightInvitation } from '../../support/invitations.js'
import { keyOf } from '../../support/proto-samples.js'

const text = invitationText(await sealInvitation(await keyOf(1), flightInvitation))

/** What a camera sees of half blocks on a dark terminal: squares of some pixels. */
function scan(code: string): string {
  const lines = code
    .replaceAll(new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g'), '')
    .trimEnd()
    .split('\n')
  const scale = 4
  const size = Math.max(...lines.map((line) => line.length))
  const [width, height] = [size * scale, lines.length * 2 * scale]
  const data = new Uint8Array(width * height)
  for (let y = 0; y < height; y += 1) {
    const row = Math.floor(y / scale)
    for (let x = 0; x < width; x += 1) {
      const block = lines[row >> 1]![Math.floor(x / scale)] ?? ' '
      const white = block === '█' || block === (row % 2 === 0 ? '▀' : '▄')
      data[y * width + x] = white ? 255 : 0
    }
  }
  const rgb = Uint8Array.from({ length: data.length * 3 }, (_, i) => data[Math.floor(i / 3)]!)
  return decodeQR({ width, height, data: rgb })
}

test('the QR code of an invitation with words and a source is scanned as the invitation', () => {
  assert.is(scan(qrCode(text, undefined)), text)
  const wide = qrCode(text, 200)
  assert.is(scan(wide), text)
  const columns = Math.max(
    ...qrCode(text, undefined)
      .split('\n')
      .map((line) => line.length),
  )
  assert.ok(columns <= 100, `${columns} columns`)
  assert.is(scan(qrCode(text, columns - 4)), text, 'with the narrower margin')
})

test('on a terminal that is too narrow, the error says how wide it has to be', () => {
  assert.throws(() => qrCode(text, 40), /the QR code is \d+ columns wide, and this terminal has 40/)
})

test('others get names first, then the farthest-reaching addresses, and none that only this machine can dial', () => {
  const [loopback, home, carrier, mine, name] = [
    ...['/ip4/127.0.0.1/tcp/4001', '/ip4/192.168.1.7/tcp/4001', '/ip4/100.64.3.4/tcp/4001'],
    ...['/ip6/2606:4700::7/tcp/4001', '/dns4/run.example.org/tcp/4001'],
  ] as [string, string, string, string, string]
  assert.equal(addressesForOthers([loopback, home, mine, name]), { addresses: [name, mine, home], reach: 'anywhere' })
  assert.equal(addressesForOthers([loopback, '/ip6/::1/tcp/4001', carrier, home]), {
    addresses: [carrier, home],
    reach: 'network',
  })
  assert.equal(addressesForOthers(['/ip6/fe80::1/tcp/1', loopback]).addresses, [loopback])
  assert.equal(addressesForOthers(['/dns4/printer.local/tcp/1']).reach, 'network')
  assert.equal(addressesForOthers([loopback, '/dns4/localhost/tcp/1']), {
    addresses: ['/dns4/localhost/tcp/1', loopback],
    reach: 'machine',
  })
  assert.equal(addressesForOthers([]), { addresses: [], reach: 'machine' })
})

test.run()
