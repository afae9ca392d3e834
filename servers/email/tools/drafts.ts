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
