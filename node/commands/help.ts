import type { HelpTable } from '../../common/cli/index.js'

const [WORK, CONTROL, RECORDS, DATA, POLICIES] = [
  'Take part in a run',
  'Control the running node',
  'Look at your work',
  'Manage the key and the base models of the node',
  'Use what a run has published',
]
const INVITATION = 'prove3-AwB-c6i3hIptF...'
const WHICH_RUN = 'Without [run], the command uses the joined run, or the only run that this folder knows.'

/** Groups and examples of the commands, in the order of the help. */
export const HELP: HelpTable = {
  join: {
    group: WORK,
    examples: [
      `prove-node join ${INVITATION}`,
      `prove-node join ${INVITATION} --threads 4 --hours 22:00-07:00`,
      `prove-node join ${INVITATION} --yes --plain`,
    ],
    notes: ['Limits apply to this start only; "prove-node limits set" keeps them.'],
  },
  setup: { group: WORK, examples: ['prove-node setup', 'prove-node setup --backend vulkan --yes'] },
  doctor: { group: WORK, examples: ['prove-node doctor', `prove-node doctor ${INVITATION}`] },
  bench: { group: WORK, examples: ['prove-node bench', 'prove-node bench --threads 8 --group-size 16'] },
  'service install': {
    group: WORK,
    examples: [`prove-node service install ${INVITATION}`, `prove-node service install ${INVITATION} --print`],
  },
  'service uninstall': { group: WORK, examples: ['prove-node service uninstall'] },
  status: { group: CONTROL, examples: ['prove-node status', 'prove-node status --json'] },
  pause: { group: CONTROL, examples: ['prove-node pause', 'prove-node pause --for 2h --now'] },
  resume: { group: CONTROL, examples: ['prove-node resume'] },
  finish: { group: CONTROL, examples: ['prove-node finish'] },
  'limits show': { group: CONTROL, examples: ['prove-node limits show'] },
  'limits set': {
    group: CONTROL,
    examples: ['prove-node limits set threads=4 gpu-memory=50', 'prove-node limits set hours=none'],
  },
  leaderboard: {
    group: RECORDS,
    examples: ['prove-node leaderboard', `prove-node leaderboard ${INVITATION}`],
    notes: [WHICH_RUN],
  },
  verdicts: { group: RECORDS, examples: ['prove-node verdicts', 'prove-node verdicts --json'] },
  'verify-group': {
    group: RECORDS,
    examples: ['prove-node verify-group', 'prove-node verify-group --calibration calibration.json'],
  },
  'identity show': { group: DATA, examples: ['prove-node identity show'] },
  'identity export': { group: DATA, examples: ['prove-node identity export > node.key'] },
  'identity import': { group: DATA, examples: ['prove-node identity import "$(cat node.key)"'] },
  cache: { group: DATA, examples: ['prove-node cache'] },
  'cache clean': { group: DATA, examples: ['prove-node cache clean', 'prove-node cache clean --all'] },
  'adapters list': {
    group: POLICIES,
    examples: ['prove-node adapters list', `prove-node adapters list ${INVITATION}`],
    notes: [WHICH_RUN],
  },
  'adapters show': {
    group: POLICIES,
    examples: ['prove-node adapters show', 'prove-node adapters show --policy-version 2'],
    notes: [WHICH_RUN],
  },
  'adapters pull': {
    group: POLICIES,
    examples: ['prove-node adapters pull my-adapter', `prove-node adapters pull my-adapter ${INVITATION}`],
    notes: [WHICH_RUN],
  },
  'adapters merge': { group: POLICIES, examples: ['prove-node adapters merge my-adapter merged.gguf'] },
  'adapters push': { group: POLICIES, examples: ['prove-node adapters push my-adapter --to hf:ada/clerk --private'] },
  'adapters rederive': {
    group: POLICIES,
    examples: ['prove-node adapters rederive', 'prove-node adapters rederive --sample 5'],
    notes: [WHICH_RUN],
  },
  'adapters verify': {
    group: POLICIES,
    examples: ['prove-node adapters verify my-adapter', `prove-node adapters verify my-adapter --run ${INVITATION}`],
  },
  chat: {
    group: POLICIES,
    examples: ['prove-node chat my-adapter --environments banking --tools list_accounts'],
  },
  serve: {
    group: POLICIES,
    examples: ['prove-node serve my-adapter', 'prove-node serve my-adapter --port 0 --slots 4'],
  },
}
