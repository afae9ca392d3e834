import { pickFrom } from '../kernel/choose.js'
import type { SeededRandom } from '../kernel/random.js'
import type { Contact, Email, EmailView, Folder } from './schema.js'
import { concerns, fileFits, type Subject, subjectOf, subjectsFor } from './subjects.js'

/**
 * Draws a subject for a new email to this contact. Half of the draws choose only among subjects with a file that can be
 * attached, if there are any.
 */
export function newSubject(db: EmailView, random: SeededRandom, { relation }: Contact): Subject {
  const ideas = subjectsFor(relation)
  const backed = ideas.filter((idea) => db.files.find(({ file }) => fileFits(file, idea)) !== undefined)
  return pickFrom(random, random.chance(0.5) ? backed : ideas) ?? random.pick(ideas)
}

/** Returns whether the email concerns the contact. For example, the photos of a wedding do not concern a client. */
export function wouldInterest({ relation }: Contact, { subject }: Email): boolean {
  const about = subjectOf(subject)
  return about === undefined || concerns(about, relation)
}

/** Returns the folders to which a user would move an email: for example, junk to the trash, finished emails to the archive. */
export function placesFor(
  db: EmailView,
  { folder, contact, labels }: Email,
): readonly Exclude<Folder, 'sent' | 'snoozed'>[] {
  const { relation } = db.contacts.get(contact)!
  // What has a label is to be found again.
  const isKept = labels.some((label) => label !== 'ads')
  if (folder === 'spam') return isKept ? ['inbox'] : ['inbox', 'trash']
  if (folder === 'trash') return ['inbox', 'archive']
  if (isKept) return ['archive', 'inbox']
  return relation === 'service' ? ['spam', 'trash', 'archive'] : ['archive', 'archive', 'trash', 'inbox']
}

/** Of several texts to search for, the first with one hit, or else the first with few, or else the last. */
export function fewHits(texts: readonly string[], hits: (text: string) => number): string | undefined {
  const counts = texts.map(hits)
  const single = counts.indexOf(1)
  const few = single >= 0 ? single : counts.findIndex((count) => count > 0 && count <= 3)
  return texts.at(few)
}
