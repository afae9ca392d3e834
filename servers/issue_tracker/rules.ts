import { type Context, type Db, type Issue, type Member, URGENT_QUOTA } from './schema.js'

/** The issue, if it is not done. */
export function openIssue(context: Context, key: string): Issue {
  const issue = context.rowOf('issues', key)
  if (issue.status === 'done') context.fail('issue_closed', `${key} is done.`)
  return issue
}

/** The issue, if it is not part of a shipped release. */
export function liveIssue(context: Context, key: string): Issue {
  const issue = context.rowOf('issues', key)
  if (isArchived(context.db, issue)) context.fail('issue_archived', `${key} belongs to the shipped ${issue.release}.`)
  return issue
}

export const isArchived = (db: Db, { release }: Issue): boolean =>
  release !== null && db.releases.get(release)?.shipped === true

export const openBlockers = (db: Db, { issue }: Issue): string[] =>
  db.links
    .list((link) => link.issue === issue && db.issues.get(link.blocker)?.status !== 'done')
    .map(({ blocker }) => blocker)

export const hasDoneDependents = (db: Db, { issue }: Issue): boolean =>
  db.links.find((link) => link.blocker === issue && db.issues.get(link.issue)?.status === 'done') !== undefined

/** Whether `issue` waits, directly or through others, for `blocker`. */
export function waitsFor(db: Db, issue: string, blocker: string): boolean {
  const seen = new Set([issue])
  for (const current of seen) {
    if (current === blocker) return true
    for (const link of db.links.list((link) => link.issue === current)) seen.add(link.blocker)
  }
  return false
}

export const urgentQuotaUsed = (db: Db, project: string): boolean =>
  db.issues.count((issue) => issue.project === project && issue.priority === 'urgent' && issue.status !== 'done') >=
  URGENT_QUOTA

export const atWipLimit = ({ in_progress, wip_limit }: Member): boolean => in_progress >= wip_limit

/** The steps the workflow allows from each status; `done` to `todo` reopens. */
export const NEXT_STATUSES: Readonly<Record<Issue['status'], readonly Issue['status'][]>> = {
  todo: ['in_progress'],
  in_progress: ['review', 'todo'],
  review: ['done', 'in_progress'],
  done: ['todo'],
}
