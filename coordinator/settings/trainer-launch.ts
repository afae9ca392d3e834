import { z } from 'zod'

const word = z.string().min(1).max(4096)

/**
 * Schema of `trainer.launch` in run.yaml, which starts the trainer's ranks on other machines. The command runs once for each
 * host, or once for all, and lasts as long as the ranks that it started.
 */
export const trainerLaunch = z
  .strictObject({
    /** Names or addresses at which the machines reach each other. The first one is the rendezvous. */
    hosts: z.array(z.string().min(1).max(253)).max(256).default([]),
    /** Number of machines, for a command that starts the program on all of them. */
    nodes: z.int().min(1).max(256).optional(),
    /** `{program}`: the program's words; `{shell}`: these as one, quoted; `{host}`, `{life}`. */
    command: z.array(word).min(1).max(64),
    /** Rendezvous, `host:port`. */
    endpoint: z
      .string()
      .regex(/^(?:\[[0-9a-fA-F:]+\]|[^\s:]+):\d{1,5}$/, 'host:port')
      .optional(),
    /** Environment variables of the program on all machines. */
    env: z.record(z.string().regex(/^[A-Za-z_]\w*$/, 'a name of a variable'), z.string().max(4096)).default({}),
    /** Time without a sign of life after which a rank, or the coordinator, counts as gone. Must exceed delays of the file system. */
    silenceMs: z.int().min(5_000).max(3_600_000).default(90_000),
  })
  .refine(
    ({ hosts, nodes }) => hosts.length > 0 !== (nodes !== undefined),
    'give hosts, with one command per host, or nodes, with one command for all',
  )
  .refine(
    ({ hosts, endpoint }) => hosts.length > 0 || endpoint !== undefined,
    'a single command for all machines needs an endpoint: host:port of one of them',
  )
  .refine(
    ({ command }) => command.some((part) => part === '{program}' || part.includes('{shell}')),
    'the command contains neither {program} nor {shell}, so it would start no rank: add one of them',
  )
  .refine(
    ({ hosts, command }) => hosts.length < 2 || command.some((part) => part.includes('{host}')),
    'the command is the same for all hosts: add {host}',
  )
