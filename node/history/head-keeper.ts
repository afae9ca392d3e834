import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import writeFileAtomic from 'write-file-atomic'
import { findContradiction, keptText, proofText, readKept, type SignedHead, type TwoHistories } from './signed-head.js'

/** Something that the coordinator has signed and that cannot be true. */
export interface HistoryAlarm {
  readonly text: string
  /** Path of the proof with both signatures; null: the alarm has no second signature. */
  readonly proof: string | null
}

/** The heads of a run's log that a node has seen. */
export interface HeadKeeper {
  readonly kept: readonly SignedHead[]
  /** Compares a signed head with all that the node has seen, and keeps it. */
  note(next: SignedHead): Promise<void>
  /** Raises an alarm with both signatures. */
  raise(found: TwoHistories): Promise<void>
}

export interface HeadKeeperParts {
  /** Folder for the heads and for proofs. */
  readonly folder: string
  readonly run: string
  readonly onAlarm: (alarm: HistoryAlarm) => void
}

/** Heads that a node keeps: the oldest, the newest, and some between them. */
const MOST_KEPT = 32
const NEWEST_KEPT = 8

/** Opens the heads that a node has seen of a run. A damaged file is replaced. @throws the system's error if it cannot be read */
export async function openHeadKeeper({ folder, run, onAlarm }: HeadKeeperParts): Promise<HeadKeeper> {
  const file = join(folder, `heads-${run}.json`)
  let kept = await readHeads(file, run)
  /** Contradictions that were reported since the start. */
  const reported = new Set<string>()

  const raise = async (found: TwoHistories): Promise<void> => {
    if (reported.has(found.why)) return
    reported.add(found.why)
    const proof = join(folder, `two-histories-${run}-${found.second.issuedAtMs}.json`)
    await writeFileAtomic(proof, proofText(run, found))
    onAlarm({
      text: `the coordinator has signed two histories of this run: ${found.why}`,
      proof,
    })
  }

  return {
    get kept() {
      return kept
    },
    raise,
    async note(next) {
      const found = findContradiction(kept, next)
      if (found) return raise(found)
      if (kept.some(({ head }) => head.events === next.head.events && head.step === next.head.step)) return
      kept = thinned([...kept, next].sort((a, b) => a.head.events - b.head.events))
      await writeFileAtomic(file, keptText(kept))
    },
  }
}

async function readHeads(file: string, run: string): Promise<readonly SignedHead[]> {
  let text: string
  try {
    text = await readFile(file, 'utf8')
  } catch (why) {
    if (why instanceof Error && 'code' in why && why.code === 'ENOENT') return []
    throw why
  }
  return readKept(text, run).catch(() => [])
}

/** Removes every second of the heads between the oldest and the newest when there are too many. */
function thinned(heads: readonly SignedHead[]): readonly SignedHead[] {
  if (heads.length <= MOST_KEPT) return heads
  const newest = heads.length - NEWEST_KEPT
  return heads.filter((_, i) => i === 0 || i >= newest || i % 2 === 0)
}
