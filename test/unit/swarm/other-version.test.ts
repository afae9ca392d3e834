import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isBefore, packageVersion } from '../../../common/cli/index.js'
import { BACKUP_NEEDS } from '../../../coordinator/backup/backup-format.js'
import { LOG_NEEDS } from '../../../coordinator/ledger/events.js'
import { PROTOCOL_NEEDS } from '../../../proto/names.js'
import { otherVersion } from '../../../swarm/other-version.js'

const PROTOCOL = '/prove/lease/2'
const why = (protocols: readonly string[], agent?: string) => otherVersion(PROTOCOL, { protocols, agent })

test('a newer protocol asks for the program of the peer, an older one for a newer peer', () => {
  assert.is(
    why(['/ipfs/id/1.0.0', '/prove/lease/1', '/prove/lease/3'], 'prove-swarm/0.4.0'),
    'it speaks /prove/lease/3 (prove-swarm 0.4.0), and this program /prove/lease/2: install prove-swarm 0.4.0 or newer',
  )
  assert.match(
    why(['/prove/lease/1'], 'prove-swarm/0.0.9')!,
    /ask its operator for a newer one, or install prove-swarm 0\.0\.9/,
  )
  assert.match(why(['/prove/lease/10'])!, /speaks \/prove\/lease\/10, .*install a newer one/)
})

test('a peer that speaks no version of a protocol speaks no other version of it', () => {
  assert.is(why([]), null)
  assert.is(why(['/prove/group/9', '/prove/lease/', '/prove/lease/3/x', '/other/lease/3']), null)
})

test('a peer that was not ready when it was asked speaks no other version', () => {
  assert.is(why([PROTOCOL], 'prove-swarm/0.1.0'), null)
  assert.is(why(['/prove/lease/1', PROTOCOL, '/prove/lease/3']), null)
})

test('what a peer calls its program is believed only where it has the form of one', () => {
  for (const agent of ['prove-swarm/\u001b[2J', 'js-libp2p/3.3.11', 'prove-swarm/1', 'prove-swarm/1.2.3;rm -rf'])
    assert.not.match(why(['/prove/lease/3'], agent)!, /\(prove-swarm/)
})

test('versions are compared by their numbers, and no format needs a later program than this one', () => {
  assert.ok(isBefore('0.9.9', '0.10.0'))
  assert.not.ok(isBefore('0.10.0', '0.9.9'))
  assert.not.ok(isBefore('1.2.3', '1.2.3'))
  for (const needs of [LOG_NEEDS, BACKUP_NEEDS, PROTOCOL_NEEDS]) assert.not.ok(isBefore(packageVersion(), needs))
})

test.run()
