import type { Program } from '../common/cli/index.js'

/** A program of the package, which `prove-swarm <word>` runs. */
export interface NamedProgram {
  readonly word: string
  readonly about: string
  load(): Promise<Program>
}

/** The programs of the package. The project's own name comes first in npm: `npx prove-swarm node join …` is `prove-node join …`. */
export const PROGRAMS: readonly NamedProgram[] = [
  {
    word: 'node',
    about: 'Take part in a run as a volunteer, and use what a run has published',
    load: async () => (await import('../node/commands/program.js')).PROGRAM,
  },
  {
    word: 'coordinator',
    about: 'Start and operate a run',
    load: async () => (await import('../coordinator/commands/program.js')).PROGRAM,
  },
  {
    word: 'server',
    about: 'Serve environments over MCP, and tasks as episodes for any trainer',
    load: async () => (await import('../servers/episodes/commands/program.js')).PROGRAM,
  },
  {
    word: 'lab',
    about: 'Make data sets, evaluate policies, calibrate audits',
    load: async () => (await import('../lab/commands/program.js')).PROGRAM,
  },
]
