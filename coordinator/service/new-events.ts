import type { ChainedLog } from '../ledger/event-log.js'
import type { RunEvent } from '../ledger/events.js'
import { followChain, LOG_START } from '../ledger/log-chain.js'
import { publicEvent } from '../ledger/public-event.js'
import type { Recorder } from '../ledger/recorder.js'

/** Whoever follows and does not read is cut off with so many events waiting: a coordinator keeps no memory for it. */
const MOST_WAITING = 100_000

/**
 * The events behind a place of the log, first those that are there and then each as it comes, as JSON without secrets. It ends
 * when its reader goes, or falls too far behind.
 * @param from  how many events the reader has already
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
  let past = earlier(log, from, 0)
  // While it is decided what to record, what the log holds and what was told of are the same.
  await recorder.record(() => {
    past = earlier(log, from, log.end.count)
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
    const { done, value } = await past.next()
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
    // The log has checked its own records.
    if (typeof link === 'string') throw new Error(`the event ${place.count} is ${link}`)
    if (place.count >= from) yield link.event
    place = link.head
  }
}
