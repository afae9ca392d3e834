import type { ChainedLog } from '../ledger/event-log.js'
import type { RunEvent } from '../ledger/events.js'
import { followChain, LOG_START } from '../ledger/log-chain.js'
import { publicEvent } from '../ledger/public-event.js'
import type { Recorder } from '../ledger/recorder.js'

/** Waiting events after which a reader that does not read is disconnected, to bound memory. */
const MOST_WAITING = 100_000

/**
 * Streams the events after a place of the log as JSON without secrets: first the recorded ones, then each new one. Ends
 * when the reader closes the stream or falls too far behind.
 * @param from  number of events that the reader has already
 */
export async function newEvents(
  log: Pick<ChainedLog, 'end' | 'records'>,
  recorder: Pick<Recorder, 'listen' | 'record'>,
  from: number,
): Promise<AsyncIterableIterator<string>> {
  const waiting: RunEvent[] = []
  let wake: () => void = () => undefined
  let isOver = false
  let stop: () => void = () => undefined
  let recorded = earlier(log, from, 0)
  // Within a decision, the end of the log and the subscription are at the same event.
  await recorder.record(() => {
    recorded = earlier(log, from, log.end.count)
    stop = recorder.listen((event) => {
      if (waiting.push(event) > MOST_WAITING) end()
      wake()
    })
    return null
  })
  const end = (): void => {
    isOver = true
    stop()
    wake()
  }
  const next = async (): Promise<RunEvent | undefined> => {
    const { done, value } = await recorded.next()
    if (!done) return value
    while (waiting.length === 0 && !isOver)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    return isOver ? undefined : waiting.shift()
  }
  const lines: AsyncIterableIterator<string> = {
    async next() {
      const event = await next()
      return event ? { done: false, value: JSON.stringify(publicEvent(event)) } : { done: true, value: undefined }
    },
    async return() {
      end()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]: () => lines,
  }
  return lines
}

async function* earlier(log: Pick<ChainedLog, 'records'>, from: number, until: number): AsyncGenerator<RunEvent> {
  let place = LOG_START
  for await (const record of log.records(until)) {
    const link = followChain(place, record)
    // The log has checked its own records, so this is a defect.
    if (typeof link === 'string') throw new Error(`event ${place.count} is ${link}`)
    if (place.count >= from) yield link.event
    place = link.head
  }
}
