import type { z } from 'zod'
import { type AnswerPart, parseAnswer, unknownFields } from './answer-template.js'
import type { Environment, ToolDefinition } from './define-environment.js'
import { allChoices, type EnvironmentSpeech, type ToolSpeech } from './speech.js'

/** A contradiction between the speech of an environment and its tools. */
export interface SpeechDefect {
  /** Keys and indices from the top of the file to the text at fault: `['freeze_card', 'ask', 2]`. */
  readonly path: readonly (string | number)[]
  readonly problem: string
}

/** Returns every contradiction between the speech and the tools of an environment, in the order of the tools. */
export function speechDefects({ name, tools }: Environment, speech: EnvironmentSpeech): SpeechDefect[] {
  const known = new Set(tools.map((tool) => tool.name))
  const stray = [...speech.keys()].filter((tool) => !known.has(tool))
  return [
    ...stray.map((tool) => ({
      path: [tool],
      problem: `the environment ${name} has no tool "${tool}"; remove the entry`,
    })),
    ...tools.flatMap((tool) => {
      const said = speech.get(tool.name)
      if (said) return toolDefects(tool, said, tools)
      return [{ path: [], problem: `the tool ${tool.name} has no entry; add one with its clauses in \`ask\`` }]
    }),
  ]
}

function toolDefects(tool: ToolDefinition, speech: ToolSpeech, tools: readonly ToolDefinition[]): SpeechDefect[] {
  return [
    ...answerDefects(tool, speech.answer),
    ...listDefects(tool, speech, tools),
    ...speech.ask.flatMap((clause, i) => clauseDefects(tool, clause, ['ask', i])),
    ...speech.further.ask.flatMap((way, i) =>
      // One defect per line of the file is enough.
      allChoices(way)
        .flatMap((clause) => clauseDefects(tool, clause, ['further', 'ask', i]))
        .slice(0, 1),
    ),
  ]
}

function answerDefects(tool: ToolDefinition, answer: string | undefined): SpeechDefect[] {
  if (answer === undefined) return []
  const path = [tool.name, 'answer']
  let parts: AnswerPart[]
  try {
    parts = parseAnswer(answer)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    return [{ path, problem: `${tool.name}: ${cause.message}` }]
  }
  const unknown = unknownFields(parts, tool.output, tool.input)
  if (unknown.length === 0) return []
  const names = unknown.join(', ')
  return [{ path, problem: `${tool.name}: the answer names ${names}, which neither the result nor the arguments have` }]
}

/** Checks the lists of arguments and tools that an entry names. */
function listDefects(tool: ToolDefinition, speech: ToolSpeech, tools: readonly ToolDefinition[]): SpeechDefect[] {
  const { said = [], next = [], checks = [], elsewhere = [] } = speech
  const named = (
    key: 'said' | 'next' | 'checks',
    names: readonly string[],
    fits: (name: string) => boolean,
    is: string,
  ): SpeechDefect[] =>
    names.flatMap((name, i) =>
      fits(name) ? [] : [{ path: [tool.name, key, i], problem: `${tool.name}: \`${key}\` names "${name}", ${is}` }],
    )
  return [
    ...named(
      'said',
      said,
      (field) => tool.input.shape[field]?.isOptional() === false,
      'which is not a required argument',
    ),
    ...named(
      'next',
      next,
      (name) => tools.some((other) => other.name === name),
      'which is not a tool of the environment',
    ),
    ...named(
      'checks',
      checks,
      (name) => tools.some((other) => other.name === name && other.annotations.readOnly),
      'which is not a read-only tool of the environment',
    ),
    ...(elsewhere.length > 0 && !tool.annotations.readOnly
      ? [
          {
            path: [tool.name, 'elsewhere'],
            problem: `${tool.name}: only a read-only tool can have \`elsewhere\`; remove it`,
          },
        ]
      : []),
  ]
}

function clauseDefects(tool: ToolDefinition, clause: string, place: readonly (string | number)[]): SpeechDefect[] {
  const path = [tool.name, ...place]
  const defect = (what: string): SpeechDefect => ({ path, problem: `${tool.name}: the clause "${clause}" ${what}` })
  const fields = Object.entries(tool.input.shape)
  const outside = clause.replaceAll(/\[[^\]]*\]/g, '')
  const used = [...clause.matchAll(/\{([^}]*)\}/g)].map(([, field]) => field!)
  return [
    ...fields.flatMap(([field, schema]) => {
      const isOutside = outside.includes(`{${field}}`)
      const optional = (schema as z.ZodType).isOptional()
      if (!optional && !isOutside) return [defect(`leaves out {${field}}; every clause names each required field`)]
      // It would be said as "undefined" whenever it is not given.
      if (optional && isOutside)
        return [defect(`has the optional {${field}} outside brackets; write it as [ … {${field}}]`)]
      return []
    }),
    ...used.flatMap((field) =>
      fields.some(([name]) => name === field)
        ? []
        : [
            defect(
              `names {${field}}, which is not an argument; the arguments are ${fields.map(([name]) => name).join(', ') || 'none'}`,
            ),
          ],
    ),
  ]
}
