import { z } from 'zod'
import { choices } from '../../kernel/choose.js'
import { ref } from '../../kernel/fields.js'
import { isArchived, liveIssue, openBlockers, openIssue, waitsFor } from '../rules.js'
import { type Issue, MAX_LABELS, tool } from '../schema.js'
import { commentOn, labelsFor } from '../words.js'

/** Labels that somebody would add to the issue. */
const fitting = (issue: Issue): string[] => labelsFor(issue).filter((label) => !issue.labels.includes(label))

export const collaboration = [
  tool({
    name: 'comment_on_issue',
    description: 'Adds a comment to an issue.',
    input: z.strictObject({
      issue: ref('issue'),
      comment: z.string().min(1).max(300).describe('Text of the comment.'),
    }),
    output: z.object({ title: z.string(), issue: ref('issue'), comments: z.int().describe('Comments it has now') }),
    annotations: { readOnly: false },
    sample({ db, random, bound }) {
      const issues = choices(db.issues, bound.issue, (issue) => !isArchived(db, issue))
      if (issues.length === 0) return null
      const issue = random.pick(issues)
      return { issue: issue.issue, comment: bound.comment ?? commentOn(issue, random) }
    },
    run({ issue: key, comment: text }, context) {
      const { db, nextId, today } = context
      const { title } = liveIssue(context, key)
      db.comments.insert({ comment: nextId('comment'), issue: key, text, written: today() })
      return { title, issue: key, comments: db.comments.count(({ issue }) => issue === key) }
    },
  }),

  tool({
    name: 'label_issue',
    description: 'Adds a label to an issue.',
    input: z.strictObject({
      issue: ref('issue'),
      label: z
        .string()
        .max(30)
        .regex(/^[a-z]+(-[a-z]+)*$/)
        .describe('Lower-case words joined by hyphens, such as needs-design.'),
    }),
    output: z.object({ title: z.string(), issue: ref('issue'), labels: z.array(z.string()) }),
    annotations: { readOnly: false },
    sample({ db, random, bound }) {
      const issues = choices(
        db.issues,
        bound.issue,
        (issue) =>
          !isArchived(db, issue) &&
          issue.labels.length < MAX_LABELS &&
          fitting(issue).some((label) => label === (bound.label ?? label)),
      )
      if (issues.length === 0) return null
      const issue = random.pick(issues)
      return { issue: issue.issue, label: bound.label ?? random.pick(fitting(issue)) }
    },
    run({ issue: key, label }, context) {
      const { db, fail } = context
      const { labels } = liveIssue(context, key)
      if (labels.includes(label)) fail('already_labelled', `${key} already has the label ${label}.`)
      if (labels.length >= MAX_LABELS) fail('too_many_labels')
      return db.issues.update(key, { labels: [...labels, label] })
    },
  }),

  tool({
    name: 'watch_issue',
    description: 'Makes a member of the project, guests included, a watcher of an issue.',
    input: z.strictObject({ issue: ref('issue'), member: ref('member') }),
    output: z.object({
      title: z.string(),
      issue: ref('issue'),
      member: ref('member'),
      watchers: z.int().describe('Watchers it has now'),
    }),
    annotations: { readOnly: false },
    sample({ db, random, bound }) {
      for (const issue of random.shuffle(choices(db.issues, bound.issue, (issue) => !isArchived(db, issue)))) {
        const members = choices(
          db.members,
          bound.member,
          ({ member, projects }) =>
            projects.includes(issue.project) && !issue.watchers.includes(member) && member !== issue.assignee,
        )
        if (members.length > 0) return { issue: issue.issue, member: random.pick(members).member }
      }
      return null
    },
    run({ issue: key, member }, context) {
      const { rowOf, db, fail } = context
      const issue = liveIssue(context, key)
      if (!rowOf('members', member).projects.includes(issue.project))
        fail('not_a_project_member', `${member} does not work on ${issue.project}.`)
      if (issue.watchers.includes(member)) fail('already_watching')
      const watchers = [...issue.watchers, member]
      db.issues.update(key, { watchers })
      return { title: issue.title, issue: key, member, watchers: watchers.length }
    },
  }),

  tool({
    name: 'block_issue',
    description: 'Links two unfinished issues: the issue cannot be done before its blocker is.',
    input: z.strictObject({
      issue: ref('issue', 'The issue that has to wait.'),
      blocker: ref('issue', 'The issue that must be done first.'),
    }),
    output: z.object({
      title: z.string(),
      issue: ref('issue'),
      // Plain text: a second reference to an issue would make "that issue" ambiguous.
      blocked_by: z.array(z.string()).describe('Unfinished issues that block it'),
    }),
    annotations: { readOnly: false },
    sample({ db, random, bound }) {
      const open = (key: string | undefined) =>
        random.shuffle(choices(db.issues, key, ({ status }) => status === 'todo' || status === 'in_progress'))
      for (const { issue, project } of open(bound.issue)) {
        const blocker = open(bound.blocker).find(
          (other) =>
            other.project === project && !db.links.has(`${issue}<${other.issue}`) && !waitsFor(db, other.issue, issue),
        )
        if (blocker) return { issue, blocker: blocker.issue }
      }
      return null
    },
    run({ issue: key, blocker }, context) {
      const { db, fail } = context
      const issue = openIssue(context, key)
      openIssue(context, blocker)
      const link = `${key}<${blocker}`
      if (db.links.has(link)) fail('already_linked', `${key} is already blocked by ${blocker}.`)
      if (waitsFor(db, blocker, key)) fail('link_cycle', `${blocker} itself waits for ${key}.`)
      db.links.insert({ link, issue: key, blocker })
      return { title: issue.title, issue: key, blocked_by: openBlockers(db, issue) }
    },
  }),
]
