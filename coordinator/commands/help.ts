import type { HelpTable } from '../../common/cli/index.js'

const [PREPARE, RUN, OBSERVE, ORDER, COPY] = [
  'Prepare a run',
  'Run it',
  'Observe it',
  'Change it while it runs',
  'Copy and repair it',
]

/** Groups and examples of the commands. Commands without `--config` in their examples use the run.yaml of the working directory. */
export const HELP: HelpTable = {
  setup: {
    group: PREPARE,
    examples: ['prove-coordinator setup', 'prove-coordinator setup --venv ./trainer --python python3.12'],
  },
  base: {
    group: PREPARE,
    examples: [
      'prove-coordinator base published.gguf',
      'prove-coordinator base published.gguf --chat-template compact --out base.gguf',
    ],
  },
  init: {
    group: PREPARE,
    examples: [
      'prove-coordinator init',
      'prove-coordinator init my-run --yes --model base.gguf --dataset tasks --operator "Ada, ada@example.org"',
    ],
  },
  'warm-start': {
    group: PREPARE,
    examples: [
      'prove-coordinator warm-start',
      'prove-coordinator warm-start --environments banking,crm=20 --count 500',
    ],
    notes: ['A base that solves no task gives reinforcement learning nothing to choose from: teach it first.'],
  },
  start: {
    group: RUN,
    examples: ['prove-coordinator start', 'prove-coordinator start --config my-run/run.yaml --exit-when-complete'],
  },
  invitation: { group: RUN, examples: ['prove-coordinator invitation', 'prove-coordinator invitation --qr'] },
  status: { group: OBSERVE, examples: ['prove-coordinator status', 'prove-coordinator status --data-dir data --json'] },
  nodes: { group: OBSERVE, examples: ['prove-coordinator nodes'] },
  leaderboard: { group: OBSERVE, examples: ['prove-coordinator leaderboard'] },
  'groups list': {
    group: OBSERVE,
    examples: ['prove-coordinator groups list --last 50', 'prove-coordinator groups list --refused --node 8fQz'],
  },
  'groups show': { group: OBSERVE, examples: ['prove-coordinator groups show 3f9a'] },
  events: {
    group: OBSERVE,
    examples: ['prove-coordinator events --type trained', 'prove-coordinator events --follow --new'],
  },
  metrics: { group: OBSERVE, examples: ['prove-coordinator metrics'] },
  pause: {
    group: ORDER,
    examples: [
      'prove-coordinator pause --reason "the disk is full"',
      'prove-coordinator pause --at https://run.example.org --token-file dashboard.token',
    ],
  },
  resume: { group: ORDER, examples: ['prove-coordinator resume'] },
  ban: { group: ORDER, examples: ['prove-coordinator ban 8fQz --reason "copied groups"'] },
  unban: { group: ORDER, examples: ['prove-coordinator unban 8fQz'] },
  'drop-task': { group: ORDER, examples: ['prove-coordinator drop-task 17 --reason "its answer is ambiguous"'] },
  'disable-environment': { group: ORDER, examples: ['prove-coordinator disable-environment banking'] },
  'enable-environment': { group: ORDER, examples: ['prove-coordinator enable-environment banking'] },
  rollback: { group: ORDER, examples: ['prove-coordinator rollback 12 --reason "the held-out reward fell"'] },
  set: {
    group: ORDER,
    examples: [
      'prove-coordinator set batchGroups 8 --reason "fewer volunteers at night"',
      'prove-coordinator set trainer.settings.optimizer.lr 1e-4',
    ],
  },
  reload: { group: ORDER, examples: ['prove-coordinator reload'] },
  announce: {
    group: ORDER,
    examples: [
      'prove-coordinator announce "The run pauses on Sunday from 8 to 12 UTC."',
      'prove-coordinator announce --clear',
    ],
  },
  export: { group: COPY, examples: ['prove-coordinator export my-export --tensorboard'] },
  backup: { group: COPY, examples: ['prove-coordinator backup my-backup'] },
  repair: { group: COPY, examples: ['prove-coordinator repair', 'prove-coordinator repair --accept-loss'] },
  restore: { group: COPY, examples: ['prove-coordinator restore my-backup --data-dir data'] },
}
