import { z } from 'zod'
import {
  contradiction,
  type LogHead,
  openHead,
  openLeaderboard,
  openManifest,
  type SealedManifest,
} from '../../proto/index.js'

/** A head of the coordinator's log with the signed message that contains it. */
export interface SignedHead {
  /** Kind of the message. */
  readonly kind: 'manifest' | 'leaderboard' | 'head'
  readonly head: LogHead
  readonly issuedAtMs: number
  readonly sealed: Uint8Array
}

export const headOfManifest = ({ manifest, envelope }: SealedManifest): SignedHead => ({
  kind: 'manifest',
  head: manifest.head,
  issuedAtMs: manifest.createdAtMs,
  sealed: envelope,
})

/** Opens a message of the run with a head. @throws SwarmRefusal if the run has not signed it */
export async function openSignedHead(kind: SignedHead['kind'], sealed: Uint8Array, run: string): Promise<SignedHead> {
  if (kind === 'manifest') return headOfManifest(await openManifest(sealed, run))
  const { head, issuedAtMs } = await (kind === 'head' ? openHead(sealed, run) : openLeaderboard(sealed, run))
  return { kind, head, issuedAtMs, sealed }
}

/** Two messages that the run has signed and that cannot both be true. */
export interface TwoHistories {
  readonly why: string
  readonly first: SignedHead
  readonly second: SignedHead
}

/** Returns the first kept head that a new one contradicts; null: none. */
export function findContradiction(kept: readonly SignedHead[], next: SignedHead): TwoHistories | null {
  for (const first of kept) {
    const why = contradiction(first.head, next.head)
    if (why !== null) return { why, first, second: next }
  }
  return null
}

const message = z.strictObject({ kind: z.enum(['manifest', 'leaderboard', 'head']), sealed: z.base64() })
const proofShape = z.strictObject({ run: z.string(), why: z.string(), first: message, second: message })

const written = ({ kind, sealed }: SignedHead): z.input<typeof message> => ({
  kind,
  sealed: Buffer.from(sealed).toString('base64'),
})

/** Returns a proof of two histories as JSON, which every reader can check with the run's key. */
export const proofText = (run: string, { why, first, second }: TwoHistories): string =>
  `${JSON.stringify({ run, why, first: written(first), second: written(second) }, null, 2)}\n`

/** Reads a proof back and checks both signatures. @throws SwarmRefusal, SyntaxError, ZodError if it proves nothing */
export async function readProof(text: string): Promise<TwoHistories & { readonly run: string }> {
  const { run, why, ...messages } = proofShape.parse(JSON.parse(text))
  const [first, second] = await Promise.all(
    [messages.first, messages.second].map(({ kind, sealed }) =>
      openSignedHead(kind, Buffer.from(sealed, 'base64'), run),
    ),
  )
  return { run, why, first: first!, second: second! }
}

const keptShape = z.array(message).max(256)

/** Reads heads that `keptText` has written. Messages that the run has not signed are left out. */
export async function readKept(text: string, run: string): Promise<SignedHead[]> {
  const opened = keptShape
    .parse(JSON.parse(text))
    .map(({ kind, sealed }) => openSignedHead(kind, Buffer.from(sealed, 'base64'), run))
  const outcomes = await Promise.allSettled(opened)
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
}

export const keptText = (kept: readonly SignedHead[]): string => JSON.stringify(kept.map(written))
