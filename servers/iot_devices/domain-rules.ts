import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: 'These are the rules of the house for whoever runs it.',
  rules: [
    {
      name: 'warm_room',
      tool: 'set_thermostat',
      demand: 'decline',
      text: 'No single thermostat is set to more than 21 degrees. Scenes may do as they were saved.',
      reason: 'No thermostat is set to more than 21 degrees here.',
      applies: ({ degrees }: { degrees: number }) => degrees > 21,
    },
    {
      name: 'bright_light',
      tool: 'set_light',
      demand: 'decline',
      text: 'No single light is set to more than 70 percent. Scenes may do as they were saved.',
      reason: 'No light is set to more than 70 percent here.',
      applies: ({ brightness }: { brightness: number }) => brightness > 70,
    },
    {
      name: 'loud_speaker',
      tool: 'play_on_speaker',
      demand: 'decline',
      text: 'No speaker plays louder than 45.',
      reason: 'No speaker may play louder than 45.',
      applies: ({ volume }: { volume?: number }) => (volume ?? 0) > 45,
    },
    {
      name: 'child_lock_off',
      tool: 'set_child_lock',
      demand: 'confirm',
      text: 'Before a child lock is taken off, ask whether to go ahead.',
      question: 'Without the lock the children could use it. Shall I go ahead?',
      applies: ({ child_lock }: { child_lock: string }) => child_lock === 'off',
    },
  ],
}
