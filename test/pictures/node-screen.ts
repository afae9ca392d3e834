import { screenLines } from '../../node/screen/screen-lines.js'
import { initialState, type NodeView, stateAfter } from '../../node/session/view.js'
import { terminalPicture } from './terminal.js'

const MINUTE = 60_000

const { reasons } = stateAfter(initialState({ accepted: 0, credit: 0 }), {
  type: 'verdict',
  earlier: null,
  verdict: {
    ...{ leaseId: '3f2a'.padEnd(32, '0'), bodySha256: 'b'.repeat(64), accepted: false, code: 'stale_policy' },
    ...{ detail: '', credit: 0, receivedAtMs: 0 },
  },
})

/** A node in the middle of its work. */
const VIEW: NodeView = {
  ...{
    peerId: `12D3KooW${'x'.repeat(36)}KbT4mRzE`,
    coordinator: `/ip4/203.0.113.5/tcp/4001/p2p/12D3KooW${'y'.repeat(36)}v9QdLw2s`,
  },
  ...{
    startedAtMs: 0,
    state: 'generating group 3f2a: 5 of 8 rollouts are complete',
    phase: 'working',
    version: 14,
    versions: 60,
  },
  ...{ backend: 'cuda', rollouts: 8, tokens: 2140, tokensPerSecond: 312 },
  ...{ accepted: 41, refused: 1, credit: 1846, waiting: 1, allAccepted: 187, allCredit: 8214 },
  place: { rank: 3, keys: 42, team: 'night shift', teamRank: 1, teams: 6 },
  announcement: 'Version 30 is the last of this week. Thank you.',
  reasons,
  ...{ peers: 6, sent: 18_400_000, received: 96_000_000, monthBytes: 2_300_000_000 },
  limits: ['4 of 16 CPU threads', 'low priority', 'at 22:00-07:00', 'upload 500 KiB/s'],
  notKept: [],
}

/** The live screen of a volunteer's node, drawn by the code of the node. */
export function nodeScreenPicture(): string {
  const rows = screenLines(VIEW, { nowMs: 134 * MINUTE, columns: 92 })
  return terminalPicture(
    'prove-node join prove3-…',
    rows.map((text, i) => ({ text, tone: i === 0 ? 'bright' : /^groups|^credit/.test(text) ? 'good' : 'plain' })),
    { title: 'The live screen of a node', description: rows.join('. ') },
  )
}
