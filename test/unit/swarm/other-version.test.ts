import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isBefore, packageVersion } from '../../../common/cli/index.js'
import { BACKUP_NEEDS } from '../../../coordinator/backup/backup-format.js'
import { LOG_NEEDS } from '../../../coordinator/ledger/events.js'
import { PROTOCOL_NEEDS } from '../../../proto/names.js'
import { otherVersion } from '../../../swarm/other-version.js'

const PROTOCOL = '/prove/lease/2'
const why = (protocols: readonly string[], agent?: string) => otherVersion(PROTOCOL, { protocols, agent })

test('the message names the version to install: the peer’s for a newer protocol, an older one for an older protocol', () => {
  assert.is(
    why(['/ipfs/id/1.0.0', '/prove/lease/1', '/prove/lease/3'], 'prove-swarm/0.4.0'),
    'the peer speaks /prove/lease/3 (prove-swarm 0.4.0), but this program speaks /prove/lease/2: install prove-swarm 0.4.0 or newer',
  )
  assert.match(
    why(['/prove/lease/1'], 'prove-swarm/0.0.9')!,
    /ask its operator to update it, or install prove-swarm 0\.0\.9/,
  )
  assert.match(why(['/prove/lease/10'])!, /speaks \/prove\/lease\/10, .*install a newer version/)
})

test('there is no message for a peer that speaks no version of the protocol', () => {
  assert.is(why([]), null)
  assert.is(why(['/prove/group/9', '/prove/lease/', '/prove/lease/3/x', '/other/lease/3']), null)
})

test('there is no message for a peer that speaks this version by now', () => {
  assert.is(why([PROTOCOL], 'prove-swarm/0.1.0'), null)
  assert.is(why(['/prove/lease/1', PROTOCOL, '/prove/lease/3']), null)
})

test('the message names a peer’s program only if the agent version has the expected form', () => {
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
