import { z } from 'zod'
import { choose } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { fileRecording } from '../changes.js'
import { deletionObstacle, recordingObstacle, stopObstacle, storageLeft } from '../rules.js'
import { LIMITS, ME, tool } from '../schema.js'

const startRecording = tool({
  name: 'start_recording',
  description: `Start recording a live meeting of which you are host or co-host. Everyone present must agree to it, ${LIMITS.storageToStart} megabytes of storage must be left, and only one meeting is recorded at a time. The recording exists once it is stopped.`,
  input: z.strictObject({ meeting: ref('meeting') }),
  output: z.object({ title: z.string(), meeting: ref('meeting'), status: z.string(), storage_left: z.int() }),
  annotations: { readOnly: false },
  establishes: ['recording_runs'],
  needs: ['meeting_live', 'consent_settled', 'storage_freed'],
  sample({ db, random, bound }) {
    const meeting = choose(db.meetings, random, bound.meeting, (row) => !recordingObstacle(db, row))
    return meeting ? { meeting: meeting.meeting } : null
  },
  run({ meeting: key }, { rowOf, unless, db, now }) {
    const meeting = rowOf('meetings', key)
    unless(recordingObstacle(db, meeting))
    db.meetings.update(key, { recorded_since: now() })
    return { title: meeting.title, meeting: key, status: 'recording', storage_left: storageLeft(db) }
  },
})

const stopRecording = tool({
  name: 'stop_recording',
  description: `Stop the recording of a meeting of which you are host or co-host, and save it: ${LIMITS.storagePerMinute} megabytes a minute, as far as the storage goes.`,
  input: z.strictObject({ meeting: ref('meeting') }),
  output: z.object({
    title: z.string(),
    recording: ref('recording'),
    meeting: z.string(),
    minutes: z.int(),
    megabytes: z.int(),
    storage_left: z.int(),
  }),
  annotations: { readOnly: false },
  needs: ['recording_runs'],
  sample({ db, random, bound }) {
    const meeting = choose(db.meetings, random, bound.meeting, (row) => !stopObstacle(row))
    return meeting ? { meeting: meeting.meeting } : null
  },
  run({ meeting: key }, context) {
    const meeting = context.rowOf('meetings', key)
    context.unless(stopObstacle(meeting))
    return { ...fileRecording(context, meeting), storage_left: storageLeft(context.db) }
  },
})

const deleteRecording = tool({
  name: 'delete_recording',
  description: 'Delete the recording of a meeting that you hosted, unless it is under a legal hold. Frees its storage.',
  input: z.strictObject({ recording: ref('recording') }),
  output: z.object({ title: z.string(), freed: z.int(), storage_left: z.int() }),
  annotations: { readOnly: false, destructive: true },
  establishes: ['storage_freed'],
  sample({ db, random, bound }) {
    const recording = choose(db.recordings, random, bound.recording, (row) => !deletionObstacle(db, row))
    return recording ? { recording: recording.recording } : null
  },
  run({ recording: key }, { rowOf, unless, db }) {
    const recording = rowOf('recordings', key)
    unless(deletionObstacle(db, recording))
    db.recordings.remove(key)
    const { title, megabytes } = recording
    db.account.update(ME, { storage_used: db.account.get(ME)!.storage_used - megabytes })
    return { title, freed: megabytes, storage_left: storageLeft(db) }
  },
})

export const recordingTools = [startRecording, stopRecording, deleteRecording]
