import { defineEnvironment } from '../kernel/define-environment.js'
import { domainRules } from './domain-rules.js'
import { invariants } from './invariants.js'
import { failures, tables } from './schema.js'
import { seed } from './seed.js'
import { collaboration } from './tools/collaboration.js'
import { planning } from './tools/planning.js'
import { queries } from './tools/queries.js'
import { workflow } from './tools/workflow.js'

export const issueTracker = defineEnvironment({
  name: 'issue_tracker',
  title: 'Issue tracker',
  description: 'Projects with issues that move through a workflow, sprints with a capacity, and releases.',
  tables,
  entities: {
    project: { noun: 'project', table: 'projects', label: 'name', sayable: true },
    member: { noun: 'member', table: 'members', label: 'name' },
    issue: { noun: 'issue', table: 'issues', label: 'title', sayable: true },
    sprint: { noun: 'sprint', table: 'sprints', label: 'name' },
    release: { noun: 'release', table: 'releases', label: 'name', compared: { due: 'either' } },
  },
  failures,
  tools: [...queries, ...workflow, ...collaboration, ...planning],
  invariants,
  domainRules,
  seed,
})
