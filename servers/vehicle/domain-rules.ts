import type { DbView } from '../kernel/define-environment.js'
import type { DomainRules } from '../kernel/domain-rules.js'
import type { tables } from './schema.js'

export const domainRules: DomainRules<DbView<typeof tables>> = {
  intro: "These are the rules of the car's owner for whoever operates it.",
  rules: [
    {
      name: 'warm_cabin',
      tool: 'set_cabin_climate',
      demand: 'decline',
      text: 'No zone of the cabin is set to more than 22 degrees.',
      reason: 'No zone of the cabin may be set to more than 22 degrees.',
      applies: ({ temperature }: { temperature: number }) => temperature > 22,
    },
    {
      name: 'loud_music',
      tool: 'play_playlist',
      demand: 'decline',
      text: 'Nothing is played louder than 9.',
      reason: 'Nothing may be played louder than 9.',
      applies: ({ volume }: { volume?: number }) => (volume ?? 0) > 9,
    },
    {
      name: 'guard_off',
      tool: 'set_guard_mode',
      demand: 'confirm',
      text: 'Before the guard mode is switched off, ask whether to go ahead.',
      question: 'The car would not be guarded then. Shall I go ahead?',
      applies: ({ mode }: { mode: string }) => mode === 'off',
    },
    {
      name: 'open_window',
      tool: 'move_window',
      demand: 'decline',
      text: 'No window is opened by more than 50 percent.',
      reason: 'No window may be opened by more than 50 percent.',
      applies: ({ opening }: { opening: number }) => opening > 50,
    },
    {
      name: 'open_door',
      tool: 'operate_door',
      demand: 'confirm',
      text: 'Before a door is opened, ask whether to go ahead. Locking and unlocking need no question.',
      question: 'Is the way free, and shall I go ahead?',
      applies: ({ action }: { action: string }) => action === 'open',
    },
  ],
}
