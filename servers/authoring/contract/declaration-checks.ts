import type { z } from 'zod'
import { countOf } from '../../../common/errors/index.js'
import {
  descriptionOf,
  type Environment,
  entityKinds,
  requiredReferences,
  type ToolDefinition,
} from '../../kernel/index.js'
import { type EnvironmentCheck, hold } from './breach.js'

/** Least number of declarations. */
export interface DeclarationFloor {
  readonly leastFailures: number
  readonly leastInvariants: number
}

/** Returns the checks that need no session. */
export function declarationChecks(
  environment: Environment,
  { leastFailures, leastInvariants }: DeclarationFloor,
): EnvironmentCheck[] {
  return [
    {
      name: `declares tools, failures (${leastFailures} at least) and invariants (${leastInvariants} at least)`,
      run() {
        const [failures, invariants] = [Object.keys(environment.failures).length, environment.invariants.length]
        hold(environment.tools.length > 0, 'it has no tools', 'Name them in the list tools of defineEnvironment.')
        hold(
          failures >= leastFailures,
          `it has ${countOf(failures, 'failure code')}`,
          'An environment in which every call succeeds teaches nothing: think of calls that its rules prevent.',
        )
        hold(
          invariants >= leastInvariants,
          `it has ${countOf(invariants, 'invariant')}`,
          'State what is true after any calls: invariants are checked thousands of times and find defects of tools.',
        )
      },
    },
    {
      name: 'leaves no tool undecided',
      run() {
        const open = environment.tools.filter((tool) => tool.undecided !== undefined)
        hold(
          open.length === 0,
          `${open.length} of ${countOf(environment.tools.length, 'tool')} ${open.length === 1 ? 'does' : 'do'} nothing yet: ${open.map(({ name }) => name).join(', ')}`,
          'Replace undecided(…) by sample and run, or remove the tool.',
        )
      },
    },
    {
      name: 'describes every argument',
      run() {
        for (const tool of environment.tools) checkDescriptions(tool)
      },
    },
    {
      name: 'takes no date or month that does not exist',
      run() {
        for (const tool of environment.tools) checkDates(tool)
      },
    },
    {
      name: 'produces every entity and fact that one of its tools consumes',
      run() {
        for (const tool of environment.tools) checkSources(tool, environment)
      },
    },
  ]
}

function checkDescriptions({ name, input }: ToolDefinition): void {
  for (const [field, schema] of Object.entries(input.shape)) {
    hold(
      (descriptionOf(schema as z.ZodType) ?? '').trim() !== '',
      `${name} does not describe {${field}}`,
      'Add .describe(…) with the unit, the form and the purpose. The kernel describes keys made with ref.',
    )
  }
}

const NO_DATES = ['nothing like this', 'nothing-like-this']

function checkDates({ name, input }: ToolDefinition): void {
  for (const [field, schema] of Object.entries(input.shape)) {
    const takes = (value: string): boolean => (schema as z.ZodType).safeParse(value).success
    if (NO_DATES.some(takes)) continue
    const wrong = [
      ...(takes('2026-03-09') ? ['2026-02-30', '2026-13-01'] : []),
      ...(takes('2026-03') ? ['2026-13', '2026-00'] : []),
    ].find(takes)
    hold(wrong === undefined, `${name} takes ${wrong} for {${field}}`, 'Use z.iso.date() for dates.')
  }
}

function checkSources(consumer: ToolDefinition, { tools, entities }: Environment): void {
  const others = tools.filter((tool) => tool !== consumer)
  for (const [field, entity] of requiredReferences(consumer.input)) {
    hold(
      entities[entity] !== undefined,
      `${consumer.name}: {${field}} refers to the entity ${entity}, which is not declared`,
      'Declare it in entities, with its noun and its table.',
    )
    // An entity that users name by its key needs no result that shows it.
    hold(
      entities[entity]!.sayable === true || others.some((tool) => entityKinds(tool.output).has(entity)),
      `no other tool shows the key of a ${entity}, which ${consumer.name} needs for {${field}}`,
      `Add a field ref('${entity}') to the output of a tool that lists or finds.`,
    )
  }
  for (const fact of consumer.needs ?? []) {
    hold(
      others.some((tool) => tool.establishes?.includes(fact)),
      `no other tool establishes ${fact}, which ${consumer.name} needs`,
      'Name it in establishes of the tool that makes it true.',
    )
  }
}
