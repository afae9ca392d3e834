import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import writeFileAtomic from 'write-file-atomic'
import { configOption } from '../../common/cli/index.js'
import { ConfigError, parseConfig } from '../settings/config.js'
import { withField } from '../settings/edit-run-file.js'
import { postOrder } from './orders.js'

interface SettingsOptions {
  readonly config: string
  readonly reason?: string
}

const withOptions = (command: Command): Command =>
  command.addOption(configOption()).option('--reason <text>', 'reason, which is logged')

export function addSetCommand(program: Command): void {
  withOptions(
    program
      .command('set')
      .description('Change one setting of a running coordinator, and in run.yaml')
      .argument('<field>', 'such as batchGroups, limits.maxTurnTokens or trainer.settings.optimizer.lr')
      .argument('<value>', 'as written in run.yaml'),
  ).action(async (field: string, value: string, options: SettingsOptions) => {
    const file = resolve(options.config)
    const before = await textOf(file)
    const text = withField(before, field, value)
    await apply(text, file, options)
    if (text !== before) await writeFileAtomic(file, text)
  })
}

export function addReloadCommand(program: Command): void {
  withOptions(program.command('reload').description('Apply the current run.yaml to a running coordinator')).action(
    async (options: SettingsOptions) => {
      const file = resolve(options.config)
      await apply(await textOf(file), file, options)
    },
  )
}

const textOf = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((cause: Error) => {
    throw new ConfigError(`${file}: ${cause.message}`, { cause })
  })

/** Orders new settings. @throws ConfigError for settings that no start would accept; ControlError with the coordinator's refusal */
async function apply(text: string, file: string, { reason }: SettingsOptions): Promise<void> {
  const { dataDir } = parseConfig(text, file)
  await postOrder(dataDir, { order: 'settings', reason: reason ?? null, text, file })
}
