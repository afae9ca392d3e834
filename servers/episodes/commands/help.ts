import type { HelpTable } from '../../../common/cli/index.js'

const [SERVE, PLAY, AUTHOR] = ['Serve environments and tasks', 'Play and score', 'Write an environment']

/** Groups and examples of the commands. */
export const HELP: HelpTable = {
  list: { group: SERVE, examples: ['prove-server list', 'prove-server list --environments ./library'] },
  describe: { group: SERVE, examples: ['prove-server describe banking'] },
  mcp: {
    group: SERVE,
    examples: [
      'prove-server mcp banking --seed 7',
      'prove-server banking email --port 8080',
      'prove-server ./library --port 8080',
    ],
  },
  env: {
    group: SERVE,
    examples: ['prove-server env --dataset my-tasks', 'prove-server env --dataset my-tasks --port 0 --reward outcome'],
  },
  score: {
    group: PLAY,
    examples: ['prove-server score --dataset my-tasks < rollouts.jsonl > rewards.jsonl'],
    notes: [
      'A line is {"task": …, "actions": [{"text", "calls": [{"name", "arguments"} | {"unreadable"}, …]}, …]}, which is replayed,',
      'or {"task": …, "calls": [{"name", "arguments", "ok"} | {"unreadable"}, …]}, which is scored without a replay.',
      'A line that cannot be scored gives {"line", "error", "message"}, and the exit status is then 1.',
    ],
  },
  play: { group: PLAY, examples: ['prove-server play banking', 'prove-server play --port 8080'] },
  new: { group: AUTHOR, examples: ['prove-server new library'] },
  check: { group: AUTHOR, examples: ['prove-server check ./library'] },
  'import openapi': {
    group: AUTHOR,
    examples: [
      'prove-server import openapi.yaml',
      'prove-server import openapi openapi.yaml --only orders --name shop',
    ],
  },
  'import mcp': {
    group: AUTHOR,
    examples: ['prove-server import mcp --name diary npx -y @example/diary-mcp'],
  },
}
