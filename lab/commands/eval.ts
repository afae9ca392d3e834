import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type EvaluationOptions, withEvaluationOptions } from '../evaluation/evaluation-options.js'
import { renderText, writeReport } from '../evaluation/report.js'
import { runEvaluation } from '../evaluation/run-evaluation.js'
import { resumable } from '../resumable.js'

interface EvalOptions extends EvaluationOptions {
  readonly json: boolean
}

export function addEvalCommand(program: Command): void {
  withEvaluationOptions(program.command('eval'))
    .description(
      'Measure policies on a data set, and compare them: a base model, adapters, merged models, models of a server',
    )
    .option(
      '--out <folder>',
      'where to write the result, a folder for summary.json, report.md and pictures; the same command resumes from it',
    )
    .option('--json', 'print JSON on stdout', false)
    .action(evaluate)
}

function evaluate(options: EvalOptions): Promise<void> {
  const out = options.out === undefined ? {} : { out: resolve(options.out) }
  return resumable(
    async (signal) => {
      const summary = await runEvaluation({ ...options, ...out }, signal)
      if (out.out !== undefined) await writeReport(out.out, summary)
      return options.json ? JSON.stringify(summary) : renderText(summary)
    },
    options.out === undefined ? 'nothing is kept: with --out <folder>, the same command would resume' : undefined,
  )
}
