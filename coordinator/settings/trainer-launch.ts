import { z } from 'zod'

const word = z.string().min(1).max(4096)

/**
 * `trainer.launch` of run.yaml: how the trainer's ranks are started on machines other than the coordinator's. The command is run
 * once for each host, or once for all; it lasts as long as what it has started.
 */
export const trainerLaunch = z
  .strictObject({
    /** Names or addresses at which machines reach each other. The first is where they meet. */
    hosts: z.array(z.string().min(1).max(253)).max(256).default([]),
    /** Machines, for a command that starts the program on all of them. */
    nodes: z.int().min(1).max(256).optional(),
    /** `{program}`: the program's words; `{shell}`: these as one, quoted; `{host}`, `{life}`. */
    command: z.array(word).min(1).max(64),
    /** Where machines meet, `host:port`. */
    endpoint: z
      .string()
      .regex(/^(?:\[[0-9a-fA-F:]+\]|[^\s:]+):\d{1,5}$/, 'host:port')
      .optional(),
    /** Of the program on all machines. */
    env: z.record(z.string().regex(/^[A-Za-z_]\w*$/, 'a name of a variable'), z.string().max(4096)).default({}),
    /** A rank, or the coordinator, that is not heard of for so long is gone. More than a file system hides a change for. */
    silenceMs: z.int().min(5_000).max(3_600_000).default(90_000),
  })
  .refine(
    ({ hosts, nodes }) => hosts.length > 0 !== (nodes !== undefined),
    'give hosts, with a command for each, or nodes, with one command for all',
  )
  .refine(
    ({ hosts, endpoint }) => hosts.length > 0 || endpoint !== undefined,
    'one command for all machines needs an endpoint: host:port of one of them',
  )
  .refine(
    ({ command }) => command.some((part) => part === '{program}' || part.includes('{shell}')),
    'the command names neither {program} nor {shell}: it would start no rank',
  )
  .refine(
    ({ hosts, command }) => hosts.length < 2 || command.some((part) => part.includes('{host}')),
    'the command is the same for all hosts: {host} is missing',
  )
