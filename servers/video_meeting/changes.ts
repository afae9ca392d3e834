import { minutesBetween } from '../kernel/dates.js'
import { storageLeft } from './rules.js'
import { type Context, LIMITS, ME, type Meeting, type Recording } from './schema.js'

/** Ends the recording of a meeting and files it. Cuts off the part that no longer fits into the storage. */
export function fileRecording({ db, now, nextId }: Context, { meeting, title, recorded_since }: Meeting): Recording {
  const minutes = Math.max(1, minutesBetween(recorded_since, now()))
  const megabytes = Math.min(minutes * LIMITS.storagePerMinute, storageLeft(db))
  const { storage_used } = db.account.get(ME)!
  db.account.update(ME, { storage_used: storage_used + megabytes })
  db.meetings.update(meeting, { recorded_since: '' })
  return db.recordings.insert({ recording: nextId('recording'), title, meeting, minutes, megabytes, held: false })
}
