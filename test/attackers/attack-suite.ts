import type { Attack } from './attack.js'
import { artifactStreams } from './attacks/artifact-streams.js'
import { auditFlood } from './attacks/audit-flood.js'
import { backwardOperator } from './attacks/backward-operator.js'
import { bestOfN } from './attacks/best-of-n.js'
import { bodyDownloads } from './attacks/body-downloads.js'
import { cannedText } from './attacks/canned-text.js'
import { copiedGroup, frontRunning } from './attacks/copied-group.js'
import { corruptedChunks } from './attacks/corrupted-chunks.js'
import { dodgedAudits } from './attacks/dodged-audits.js'
import { eclipsedShard } from './attacks/eclipsed-shard.js'
import { editedArguments } from './attacks/edited-arguments.js'
import { falseZeroVariance } from './attacks/false-flat.js'
import { flood } from './attacks/flood.js'
import { forgedLogprobs } from './attacks/forged-logprobs.js'
import { forgedResults } from './attacks/forged-results.js'
import { forgedRewards } from './attacks/forged-rewards.js'
import { greedyDecoding } from './attacks/greedy-decoding.js'
import { halfOpenStreams } from './attacks/half-open-streams.js'
import { hugeManifests } from './attacks/huge-manifests.js'
import { idleSockets } from './attacks/idle-sockets.js'
import { lateCheating } from './attacks/late-cheating.js'
import { leaseHoarding } from './attacks/lease-hoarding.js'
import { lengthBombs } from './attacks/length-bombs.js'
import { malformed } from './attacks/malformed.js'
import { noAdapter } from './attacks/no-adapter.js'
import { oldManifests } from './attacks/old-manifests.js'
import { otherModel } from './attacks/other-model.js'
import { oversize } from './attacks/oversize.js'
import { pathNames } from './attacks/path-names.js'
import { patientTrueClaims } from './attacks/patient-true-claims.js'
import { poisonedNumbers } from './attacks/poisoned-numbers.js'
import { posingAsCoordinator } from './attacks/posing-as-coordinator.js'
import { quantisedBase, quantisedCache } from './attacks/quantised.js'
import { reorderedRollouts } from './attacks/reordered-rollouts.js'
import { replayedGroup } from './attacks/replayed-group.js'
import { rewrittenLog } from './attacks/rewritten-log.js'
import { seedChoosers } from './attacks/seed-choosers.js'
import { slowHolders } from './attacks/slow-holders.js'
import { staleAdapter } from './attacks/stale-adapter.js'
import { stallingProvider } from './attacks/stalling-provider.js'
import { sybilKeys } from './attacks/sybil-keys.js'
import { taskPicking } from './attacks/task-picking.js'
import { withheldBodies } from './attacks/withheld-bodies.js'
import { wrongPrompt } from './attacks/wrong-prompt.js'
import { wrongTemperature } from './attacks/wrong-temperature.js'

/** Every attack, in the order in which they are carried out: that with a stale adapter when others have brought about a second version. */
export const ATTACKS: readonly Attack[] = [
  flood,
  oversize,
  malformed,
  eclipsedShard,
  halfOpenStreams,
  artifactStreams,
  idleSockets,
  withheldBodies,
  forgedResults,
  forgedRewards,
  wrongPrompt,
  poisonedNumbers,
  lengthBombs,
  falseZeroVariance,
  taskPicking,
  leaseHoarding,
  slowHolders,
  seedChoosers,
  dodgedAudits,
  auditFlood,
  bodyDownloads,
  cannedText,
  otherModel,
  quantisedBase,
  quantisedCache,
  noAdapter,
  greedyDecoding,
  wrongTemperature,
  bestOfN,
  editedArguments,
  forgedLogprobs,
  reorderedRollouts,
  replayedGroup,
  copiedGroup,
  frontRunning,
  sybilKeys,
  staleAdapter,
  lateCheating,
  patientTrueClaims,
  hugeManifests,
  pathNames,
  posingAsCoordinator,
  oldManifests,
  stallingProvider,
  corruptedChunks,
  backwardOperator,
  rewrittenLog,
]
