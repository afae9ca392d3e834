import type { PrivateKey } from '@libp2p/interface'
import type { AddressNotices, SwarmHost } from '../../swarm/index.js'
import type { Intake } from '../intake/intake.js'
import type { LeaseService } from '../leases/lease-service.js'
import type { Recorder } from '../ledger/recorder.js'
import type { Publisher } from '../versions/publisher.js'
import type { Attendance } from './attendance.js'
import { broadcast } from './broadcast.js'
import { nameDoubtedBatches } from './doubted-batches.js'
import { keepHouse } from './housekeeping.js'
import { announceAddresses } from './own-addresses.js'
import type { RunServices } from './services.js'
import type { StrainWatch } from './strain-watch.js'

export interface BackgroundParts {
  readonly host: SwarmHost
  readonly key: PrivateKey
  readonly recorder: Recorder
  readonly leases: LeaseService
  readonly intake: Intake
  readonly publisher: Publisher
  readonly services: RunServices
  readonly attendance: Attendance
  readonly strain: StrainWatch
  readonly notices: AddressNotices
  /** File of the address notice that was published last. */
  readonly addressNotice: string
  /** Whether the run has capacity for leases that a node waits for. */
  readonly isWanted: () => boolean
}

/** Runs housekeeping, gossip to the nodes and announcements of the coordinator's addresses, until the signal fires. */
export async function runBackground(parts: BackgroundParts, signal: AbortSignal): Promise<void> {
  const { host, key, recorder, leases, intake, publisher, services, attendance, strain } = parts
  const { notices, addressNotice, isWanted } = parts
  const { clock, logger } = host
  await Promise.all([
    keepHouse(
      {
        releaseLapsed: () => leases.releaseLapsed(),
        takeBack: () => leases.takeBack(),
        openRound: () => publisher.openRound(),
        auditSuspects: () => intake.auditSuspects(),
        lookForVolunteers: () => attendance.look(),
        lookForStrain: () => strain.look(),
        nameDoubtedBatches: () => nameDoubtedBatches(recorder, clock),
        clock,
        logger: logger.child({ part: 'housekeeping' }),
      },
      signal,
    ),
    broadcast(
      {
        ...{ recorder, isWanted, clock, logger: logger.child({ part: 'broadcast' }) },
        sendVerdicts: (node, from, count) => services.sendVerdicts(node, from, count),
        announcePolicy: () => publisher.announce(),
      },
      signal,
    ),
    announceAddresses(
      {
        ...{ host, key, notices, file: addressNotice },
        announcement: () => recorder.state.orders.announcement,
        onAnnouncement: (onChange) =>
          recorder.listen(({ type }) => {
            if (type === 'announced') onChange()
          }),
      },
      signal,
    ),
  ])
}
