import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'
import { z } from 'zod'
import { FACT_LIMITS, type Json } from '../reward/index.js'
import { EpisodeError } from './errors.js'
import { QUESTION_LIMITS } from './questions.js'

const name = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/)
const json: z.ZodType<Json> = z.json() as z.ZodType<Json>

/** Limit for about 20 domain rules of 800 characters each: one task opens no more environments. */
const MAX_SYSTEM_CHARS = 20_000

const taskBody = z.strictObject({
  kind: z.enum(['multi-turn', 'clarification', 'abstention']),
  /** The sessions of the task: at most one per environment. */
  environments: z
    .array(z.strictObject({ environment: name, seed: z.int().min(0).max(0xffffffff) }))
    .min(1)
    .max(20),
  /**
   * The toolset, in the order shown to the policy; names are unique across environments. `from`: index of the user turn that adds the
   * tool, if it is not offered from the beginning.
   */
  toolset: z
    .array(z.strictObject({ environment: name, tool: name, from: z.int().min(1).max(4).optional() }))
    .min(1)
    .max(64),
  /** Enum values are left out of the offered schemas; execution still refuses other values (paper, section 3.2). */
  stripEnums: z.literal(true).optional(),
  /** The system message: the reference date, facts about the user, and optional domain rules of the offered environments. */
  system: z.string().min(1).max(MAX_SYSTEM_CHARS).optional(),
  /** The scripted user's turns. */
  turns: z.array(z.string().min(1).max(4000)).min(1).max(5),
  groundTruth: z
    .array(
      z.strictObject({
        name,
        arguments: z.record(z.string().max(100), json),
        after: z.array(z.int().min(0)).max(16),
        /** Index of the user turn that asks for the call. */
        turn: z.int().min(0),
      }),
    )
    .max(16),
  /** Facts that the answers to the user's turns must state; absent if there are none. */
  facts: z
    .array(z.strictObject({ turn: z.int().min(0).max(4), value: z.string().min(1).max(FACT_LIMITS.chars) }))
    .min(1)
    .max(5 * FACT_LIMITS.perTurn)
    .optional(),
  /**
   * Questions that the assistant must ask, because the user left something out: the answer to that turn must ask for it with one of these
   * words, and only then the next turn follows. Absent if there are none.
   */
  questions: z
    .array(
      z.strictObject({
        turn: z.int().min(0).max(4),
        words: z
          .array(
            z
              .string()
              .regex(/^[a-z0-9]+( [a-z0-9]+)*$/)
              .max(QUESTION_LIMITS.wordChars),
          )
          .min(1)
          .max(QUESTION_LIMITS.words),
      }),
    )
    .min(1)
    .max(5)
    .optional(),
  /** Names the tool chain the task was made from: `banking:list_accounts>freeze_card`. */
  chain: z.string().min(1).max(400),
})

const taskSchema = taskBody.extend({ id: z.string().regex(/^[0-9a-f]{64}$/) })

/** One task: its environments, the offered tools, the user's turns, and the ground-truth calls. */
export type Task = z.output<typeof taskSchema>
export type TaskBody = z.output<typeof taskBody>

/** Adds a task's id: the SHA-256 (hex) over its canonical JSON. */
export function nameTask(body: TaskBody): Task {
  return { ...body, id: createHash('sha256').update(canonicalize(body)!).digest('hex') }
}

/** Maximal levels of lists and objects in a task, to bound recursion. Arguments of tools have three. */
const MAX_NESTING = 32
const MAX_REASON_CHARS = 400

/**
 * Parses a task from the network or a file.
 * @throws EpisodeError `bad_task`
 */
export function parseTask(value: unknown): Task {
  if (isDeeper(value, MAX_NESTING))
    throw new EpisodeError('bad_task', `the task is nested in more than ${MAX_NESTING} levels`)
  const parsed = taskSchema.safeParse(value)
  // The reason names each unknown key, and an untrusted task may have many.
  if (!parsed.success) throw new EpisodeError('bad_task', z.prettifyError(parsed.error).slice(0, MAX_REASON_CHARS))
  const { id, ...body } = parsed.data
  if (nameTask(body).id !== id)
    throw new EpisodeError('bad_task', `the content does not have the id ${id}: remove the id, or restore the content`)
  return parsed.data
}

function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((part) => isDeeper(part, levels - 1))
}
