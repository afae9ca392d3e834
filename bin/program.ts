import type { AddCommand, Program } from '../common/cli/index.js'
import { addCompletionCommand } from './completion.js'
import { type NamedProgram, PROGRAMS } from './programs.js'

const GROUPS = ['Programs', 'Set up'] as const

/** Adds the name of a program to the help. `main.ts` runs the program before this command could. */
const named =
  ({ word, about }: NamedProgram): AddCommand =>
  (program) => {
    program.command(word).description(about).argument('[arguments...]', `command and options of prove-${word}`)
  }

/** The program `prove-swarm`: the other programs under one name, so that npx finds them. */
export const PROGRAM: Program = {
  name: 'prove-swarm',
  description: 'Train tool-using language models together on a peer-to-peer volunteer swarm',
  commands: {
    ...Object.fromEntries(PROGRAMS.map((one) => [one.word, async () => named(one)])),
    completion: async () => addCompletionCommand,
  },
  help: {
    node: { group: GROUPS[0], examples: ['prove-swarm node join prove3-AwB-c6i3hIptF...'] },
    coordinator: { group: GROUPS[0], examples: ['prove-swarm coordinator init'] },
    server: { group: GROUPS[0], examples: ['prove-swarm server banking --port 8080'] },
    lab: { group: GROUPS[0], examples: ['prove-swarm lab synthesize --out my-tasks'] },
    completion: {
      group: GROUPS[1],
      examples: [
        'prove-swarm completion bash > ~/.local/share/bash-completion/completions/prove-swarm',
        'prove-swarm completion zsh > ~/.zfunc/_prove-swarm',
        'prove-swarm completion fish > ~/.config/fish/completions/prove-swarm.fish',
      ],
      notes: [
        'bash loads a file of this folder by the name of the program: link it to prove-node, prove-coordinator, prove-server',
        'and prove-lab too, or load it in ~/.bashrc. In zsh, ~/.zfunc must be part of fpath before compinit.',
      ],
    },
  },
}
