import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { videoInvariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seedVideo } from './seed.js'
import { meetingTools } from './tools/meetings.js'
import { participantTools } from './tools/participants.js'
import { recordingTools } from './tools/recordings.js'

/**
 * Video meetings of one user, from scheduled to live to ended. Participants wait to be admitted and have roles. Recordings
 * need consent and storage.
 */
export const videoMeeting = defineEnvironment({
  name: 'video_meeting',
  title: 'Video meetings',
  description: 'Video meetings of one user, their participants and waiting rooms, and their recordings.',
  tables,
  entities: {
    meeting: { noun: 'meeting', table: 'meetings', label: 'title', compared: { date: 'either', start: 'either' } },
    participant: { noun: 'participant', table: 'participants', label: 'name' },
    recording: { noun: 'recording', table: 'recordings', label: 'title' },
  },
  failures,
  tools: [...meetingTools, ...participantTools, ...recordingTools],
  invariants: videoInvariants,
  domainRules,
  seed: seedVideo,
})
