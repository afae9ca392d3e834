/** Recent leases of a key, or of a block of addresses: exponentially decaying counts of those that ended. */
export interface DeliveryRecord {
  /** Leases that ended with an accepted group. */
  readonly delivered: number
  /** Leases that were abandoned, and not delivered since. A lease that is taken again and abandoned again counts once. */
  readonly lost: number
}

export const NO_LEASES: DeliveryRecord = { delivered: 0, lost: 0 }

/** Approximate number of leases that count. */
const MEMORY = 64
/** Losses without a consequence, which a crash, a sleep or a lost connection may cause: two leases, and a tenth of all recent ones. */
export const FORGIVEN = { leases: 2, share: 0.1 } as const
/** A key with fewer recent leases is also judged by the leases of its block, because keys are free to create. */
const KNOWN_LEASES = 16
/** Expected shares are multiples of this fraction, so that their sums are exact. */
const STEPS = 64

const decayed = ({ delivered, lost }: DeliveryRecord): DeliveryRecord => ({
  delivered: delivered * (1 - 1 / MEMORY),
  lost: lost * (1 - 1 / MEMORY),
})

export function afterDelivery(record: DeliveryRecord): DeliveryRecord {
  const { delivered, lost } = decayed(record)
  return { delivered: delivered + 1, lost }
}

export function afterLoss(record: DeliveryRecord): DeliveryRecord {
  const { delivered, lost } = decayed(record)
  return { delivered, lost: lost + 1 }
}

/** Counts a delivered lease that was counted as lost before. */
export const afterLateDelivery = ({ delivered, lost }: DeliveryRecord): DeliveryRecord =>
  afterDelivery({ delivered, lost: Math.max(0, lost - 1) })

/** Returns the record of a key, with as much of its block's record as the key lacks of its own. */
export function withBlock(own: DeliveryRecord, block: DeliveryRecord): DeliveryRecord {
  const known = own.delivered + own.lost
  const ofBlock = block.delivered + block.lost
  const share = ofBlock === 0 ? 0 : Math.min(1, Math.max(0, KNOWN_LEASES - known) / ofBlock)
  return { delivered: own.delivered + share * block.delivered, lost: own.lost + share * block.lost }
}

/** Returns the number of losses beyond the forgiven ones. */
const unforgiven = ({ delivered, lost }: DeliveryRecord): number =>
  Math.max(0, lost - FORGIVEN.leases - FORGIVEN.share * (delivered + lost))

/** Returns delivered leases as a share of those that count: 1 for a key whose losses are forgiven. */
export function reliabilityOf(record: DeliveryRecord): number {
  const counted = unforgiven(record)
  return counted === 0 ? 1 : record.delivered / (record.delivered + counted)
}

/** Returns the share of its next leases that a key is expected to deliver, above 0 and at most 1. */
export const expectedShare = ({ delivered, lost }: DeliveryRecord): number =>
  Math.ceil((STEPS * (delivered + 1)) / (delivered + lost + 1)) / STEPS
