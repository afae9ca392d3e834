import { z } from 'zod'
import { choices, choose } from '../../kernel/choose.js'
import { bare, occupy, send } from '../changes.js'
import { openDraftOf } from '../lookup.js'
import { addDraftObstacle, attachObstacle, sendObstacle, writeToObstacle } from '../rules.js'
import { newSubject } from '../sampling.js'
import {
  bodyField,
  contactKey,
  type Draft,
  draftKey,
  emailKey,
  fileKey,
  subjectField,
  threadKey,
  tool,
} from '../schema.js'
import { fileFits, subjectOf } from '../subjects.js'
import { body as someBody } from '../words.js'

const status = z.enum(['open', 'sent', 'discarded'])

const writeDraft = tool({
  name: 'write_draft',
  description: 'Write a draft of a new email to a contact, without sending it.',
  input: z.strictObject({
    contact: contactKey(),
    subject: subjectField.describe('Subject line.'),
    body: bodyField.describe('The whole text.'),
  }),
  output: z.object({ subject: z.string(), draft: draftKey(), contact: contactKey(), status }),
  annotations: { readOnly: false },
  ask: [
    'write a draft to {contact} with the subject "{subject}" and the text "{body}"',
    'draft an email to {contact} about "{subject}" that says "{body}"',
    'prepare an email to {contact} with the subject "{subject}" saying "{body}"',
    'start a draft for {contact}, subject "{subject}", text "{body}"',
    'get an email to {contact} ready, subject "{subject}", text "{body}"',
  ],
  sample({ db, random, bound }) {
    if (addDraftObstacle(db)) return null
    const contact = choose(db.contacts, random, bound.contact, (row) => !writeToObstacle(row))
    if (!contact) return null
    const subject = (bound.subject && subjectOf(bound.subject)) || newSubject(db, random, contact)
    return { subject: subject.line, body: someBody(random, subject), ...bound, contact: contact.contact }
  },
  run({ contact, subject, body }, context) {
    context.unless(writeToObstacle(context.rowOf('contacts', contact)) ?? addDraftObstacle(context.db))
    const draft = context.nextId('draft')
    return context.db.drafts.insert({
      draft,
      subject,
      contact,
      body,
      files: [],
      size_mb: 0,
      status: 'open',
      thread: null,
      email: null,
    })
  },
})

const editDraft = tool({
  name: 'edit_draft',
  description: 'Replace the text of an open draft and, if given, its subject.',
  input: z.strictObject({
    draft: draftKey(),
    body: bodyField.describe('The whole new text.'),
    subject: subjectField.describe('New subject line; stays if not given.').optional(),
  }),
  output: z.object({ subject: z.string(), draft: draftKey(), body: z.string(), status }),
  annotations: { readOnly: false, destructive: true, idempotent: true },
  ask: [
    'change the text of {draft} to "{body}"[, with the new subject "{subject}"]',
    'edit {draft} so that it says "{body}"[ under the subject "{subject}"]',
    'rewrite {draft} to say "{body}"[ with the new subject "{subject}"]',
    'replace the text in {draft} with "{body}"[, new subject "{subject}"]',
  ],
  sample({ db, random, bound }) {
    const draft = choose(db.drafts, random, bound.draft, ({ status }) => status === 'open')
    if (!draft) return null
    const about = subjectOf(draft.subject)
    if (!about) return null
    const text = { draft: draft.draft, body: someBody(random, about, [draft.body]) }
    return { ...text, ...(random.chance(0.2) && { subject: `Correction: ${bare(draft.subject)}` }), ...bound }
  },
  run({ draft, body, subject }, context) {
    const row = openDraftOf(context, draft)
    return context.db.drafts.update(draft, { body, subject: subject ?? row.subject })
  },
})

const attachFile = tool({
  name: 'attach_file',
  description: 'Attach a file to an open draft. An email takes 25 MB, and the mailbox has a quota.',
  input: z.strictObject({ draft: draftKey(), file: fileKey() }),
  output: z.object({ draft: draftKey(), file: fileKey(), draft_mb: z.int(), free_mb: z.int() }),
  annotations: { readOnly: false },
  ask: [
    'attach the file {file} to {draft}',
    'add {file} to {draft} as an attachment',
    'attach {file} to {draft}',
    'include the file {file} in {draft}',
    'make sure that {file} is attached to {draft}',
  ],
  sample({ db, random, bound }) {
    const files = (draft: Draft) =>
      choices(
        db.files,
        bound.file,
        (row) => fileFits(row.file, subjectOf(draft.subject)) && !attachObstacle(db, draft, row),
      )
    const draft = choose(db.drafts, random, bound.draft, (row) => files(row).length > 0)
    return draft ? { draft: draft.draft, file: random.pick(files(draft)).file } : null
  },
  run({ draft, file }, context) {
    const { unless, rowOf, db } = context
    const row = rowOf('drafts', draft)
    const { size_mb } = rowOf('files', file)
    unless(attachObstacle(db, row, { file, size_mb }))
    const draft_mb = row.size_mb + size_mb
    db.drafts.update(draft, { files: [...row.files, file], size_mb: draft_mb })
    return { draft, file, draft_mb, free_mb: occupy(context, size_mb) }
  },
})

const sendDraft = tool({
  name: 'send_draft',
  description: 'Send an open draft. An email that was sent can no longer be edited.',
  input: z.strictObject({ draft: draftKey() }),
  output: z.object({
    subject: z.string(),
    email: emailKey(),
    thread: threadKey(),
    contact: contactKey(),
    delivery: z.enum(['delivered', 'auto_reply']),
  }),
  annotations: { readOnly: false },
  establishes: ['email_sent'],
  ask: ['send {draft}', 'send {draft} off now', 'let {draft} go out', 'send {draft} as it is', 'get {draft} out now'],
  sample({ db, random, bound }) {
    const draft = choose(db.drafts, random, bound.draft, (row) => !sendObstacle(db, row))
    return draft ? { draft: draft.draft } : null
  },
  run({ draft }, context) {
    const row = context.rowOf('drafts', draft)
    context.unless(sendObstacle(context.db, row))
    const { subject, contact, body, files, size_mb, thread } = row
    const receipt = send(context, { subject, contact, body, files, size_mb, thread })
    context.db.drafts.update(draft, { status: 'sent', email: receipt.email })
    return receipt
  },
})

const discardDraft = tool({
  name: 'discard_draft',
  description: 'Throw an open draft away, together with its attachments.',
  input: z.strictObject({ draft: draftKey() }),
  // Not a reference: nothing more can be done with a discarded draft, so no chain should go on from it.
  output: z.object({ subject: z.string(), draft: z.string(), status }),
  annotations: { readOnly: false, destructive: true },
  ask: [
    'discard {draft}',
    'throw {draft} away',
    'delete {draft} without sending it',
    'get rid of {draft}',
    'scrap {draft}',
  ],
  sample({ db, random, bound }) {
    const draft = choose(db.drafts, random, bound.draft, ({ status }) => status === 'open')
    return draft ? { draft: draft.draft } : null
  },
  run({ draft }, context) {
    occupy(context, -openDraftOf(context, draft).size_mb)
    return context.db.drafts.update(draft, { status: 'discarded', files: [], size_mb: 0 })
  },
})

export const draftTools = [writeDraft, editDraft, attachFile, sendDraft, discardDraft]
