import { decline, declineOnceMore, declineRest, failure, question } from './assistant-replies.js'
import { report } from './assistant-report.js'
import type { Speech } from './speech.js'
import { bring, correct, insist, supply } from './user-replies.js'
import { request } from './user-request.js'
import { vague } from './vague-request.js'

/** The words of people: each persona has its own register, with references, ellipsis, reasons and asides. */
export const naturalSpeech: Speech = {
  ...{ request, vague, supply, correct, insist, bring },
  ...{ question, report, failure, decline, declineOnceMore, declineRest },
}
