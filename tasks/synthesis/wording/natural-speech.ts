import { decline, declineOnceMore, declineRest, failure, question } from './assistant-replies.js'
import { report } from './assistant-report.js'
import { bring, correct, insist, supply } from './user-replies.js'
import { request } from './user-request.js'
import { vague } from './vague-request.js'

/**
 * The words of people: each persona has its own register, with references, ellipsis, reasons and asides. All functions are deterministic in
 * `moment.random`, and return `undefined` where there is no way to say it.
 */
export const naturalSpeech = {
  ...{ request, vague, supply, correct, insist, bring },
  ...{ question, report, failure, decline, declineOnceMore, declineRest },
}

/** Functions that put the turns of a conversation into words. */
export type Speech = typeof naturalSpeech
