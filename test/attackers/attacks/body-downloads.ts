import { LIMITS } from '../../../proto/index.js'
import { fetchGroupBody } from '../../../swarm/index.js'
import { soon } from '../../support/swarm-nodes.js'
import { networkAttack, refusalsOf } from '../network-attack.js'

const ASKED = 60
/** A quarter of a minute's requests come at once. */
const AT_ONCE = Math.ceil(LIMITS.bodiesPerMinute.value / 4)

export const bodyDownloads = networkAttack({
  name: 'body-downloads',
  about: 'downloads the same body again and again, to use the coordinator’s bandwidth',
  messages: ASKED,
  async carryOut(arena, node, _, signal) {
    const accepted = [...arena.state().accepted.values()].at(-1)
    if (!accepted) return ['there is no accepted group yet']
    const from = arena.run.coordinator.lines.length
    const startedMs = Date.now()
    let served = 0
    for (let asked = 0; asked < ASKED && !signal.aborted; asked++) {
      const body = await fetchGroupBody(node.host, [arena.run.runId], accepted, soon()).catch(() => null)
      if (body) served += 1
    }
    const allowed = AT_ONCE + Math.ceil(((Date.now() - startedMs) * LIMITS.bodiesPerMinute.value) / 60_000)
    return [
      ...(served > 0 ? [] : ['no body was served at all']),
      ...(served <= allowed ? [] : [`${served} bodies were served`]),
      ...(refusalsOf(arena, node.peerId, from).includes('rate_limited') ? [] : ['no request was too many']),
    ]
  },
})
