import { SwarmRefusal } from '../../proto/index.js'
import { createAnnouncementFilter, createShardHub, type ShardHub, type SwarmHost } from '../../swarm/index.js'
import type { Intake } from '../intake/intake.js'

/** After about ten of these, gossip ignores the author. */
const FALSE_ANNOUNCEMENT_PENALTY = 1

/** Listens to the announcements of groups in every shard, and passes them to the intake. */
export function hearGroups(host: SwarmHost, intake: Pick<Intake, 'accept' | 'check'>): ShardHub {
  const gate = createAnnouncementFilter(host.clock)
  return createShardHub(host, {
    check: (group) => {
      try {
        gate.check(group)
        intake.check(group)
      } catch (why) {
        if (!(why instanceof SwarmRefusal) || why.effect === 'ignore') throw why
        // A peer that passed it on knows no leases, so it is not penalised. The signature shows the liar.
        host.penalise(group.signer, FALSE_ANNOUNCEMENT_PENALTY)
        throw new SwarmRefusal('ignore', why.code, why.detail)
      }
    },
    deliver: (group) => {
      try {
        intake.accept(group)
      } catch (why) {
        // No capacity, or slightly too late: the node offers the group itself and gets the refusal then.
        if (!(why instanceof SwarmRefusal)) throw why
        host.logger.debug({ lease: group.announcement.leaseId, code: why.code }, 'a gossiped group was not accepted')
      }
    },
  })
}
