import { html } from 'hono/html'
import type { RunOrders } from '../../ledger/orders.js'
import type { EnvironmentCoverage, TaskCoverage } from '../../report/coverage-report.js'
import { DASHBOARD_LIMITS } from '../limits.js'
import { badge, decimal, empty, live, type Markup, percent, table, thousands } from '../page.js'

/** @param tasksInAll  of the data set's training split */
export function coverage(
  environments: readonly EnvironmentCoverage[],
  tasks: readonly TaskCoverage[],
  tasksInAll: number,
  { disabledEnvironments, droppedTasks }: Pick<RunOrders, 'disabledEnvironments' | 'droppedTasks'>,
): Markup {
  if (tasks.length === 0) return live('coverage', empty('No lease has been given yet.'))
  const counts = ['leases', 'accepted', 'zero variance', 'refused', 'reward', 'solved']
  const numeric = (name: string) => ({ name, numeric: true })
  const cells = ({
    leases,
    accepted,
    zeroVariance,
    refused,
    reward,
    solved,
  }: Omit<TaskCoverage, 'taskIndex'>): unknown[] => [
    thousands(leases),
    thousands(accepted),
    thousands(zeroVariance),
    thousands(refused),
    decimal(reward),
    percent(solved),
  ]
  const most = tasks.toSorted((a, b) => b.leases - a.leases).slice(0, DASHBOARD_LIMITS.rows)
  return live(
    'coverage',
    html`<p>${thousands(tasks.length)} of ${thousands(tasksInAll)} tasks were leased at least once.</p>
<section><h2>By environment</h2>${table(
      'Environments; a task with several environments counts for each',
      [{ name: 'environment' }, numeric('tasks'), numeric('covered'), ...counts.map(numeric)],
      environments.map((environment) => [
        marked(environment.environment, disabledEnvironments.has(environment.environment) && 'disabled'),
        thousands(environment.tasks),
        thousands(environment.tasksCovered),
        ...cells(environment),
      ]),
    )}</section>
<section><h2>By task</h2>${table(
      'Tasks, most leases first',
      [{ name: 'task' }, ...counts.map(numeric)],
      most.map((task) => [marked(task.taskIndex, droppedTasks.has(task.taskIndex) && 'dropped'), ...cells(task)]),
    )}</section>`,
  )
}

const marked = (name: string | number, mark: string | false): unknown =>
  mark === false ? name : html`${name} ${badge('warn', mark)}`
