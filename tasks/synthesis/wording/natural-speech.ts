import { correct, supply } from './answers.js'
import { decline, declineOnceMore, declineRest, failure, question } from './assistant.js'
import { bring } from './bringing.js'
import { insist } from './insist.js'
import { report } from './report.js'
import { request } from './request.js'
import type { Speech } from './speech.js'
import { vague } from './vague.js'

/** The words of people: each persona has its own register, with references, ellipsis, reasons and asides. */
export const naturalSpeech: Speech = {
  request,
  vague,
  supply,
  correct,
  question,
  report,
  failure,
  decline,
  declineOnceMore,
  declineRest,
  insist,
  bring,
}

export { denotes } from './denotes.js'
export { drawPersona } from './personas.js'
