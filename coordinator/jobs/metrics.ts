import { Counter, Gauge } from 'prom-client'
import type { Metrics } from '../../swarm/index.js'
import { isOfRanks, type TrainerEvent } from './trainer-events.js'

/** Measures the trainer's events. @returns  a function to call with each event */
export function meterTrainer(registers: Metrics): (event: TrainerEvent) => void {
  const events = new Counter({
    name: 'prove_trainer_events_total',
    help: 'Events of the trainer since the start of the coordinator: ready, ranks, training, measured, step, skipped, rejected, error',
    labelNames: ['event'],
    registers: [registers],
  })
  const stats = new Gauge({
    name: 'prove_trainer_step_stat',
    help: 'Numbers of the last step, by their names in docs/reference/trainer.md',
    labelNames: ['stat'],
    registers: [registers],
  })
  const ranks = new Gauge({
    name: 'prove_trainer_ranks',
    help: 'Running ranks of a trainer on several machines, by host name',
    labelNames: ['host'],
    registers: [registers],
  })
  return (trainerEvent) => {
    const { event, ...rest } = trainerEvent
    events.inc({ event })
    if (isOfRanks(trainerEvent)) {
      ranks.reset()
      for (const { host, ended } of trainerEvent.ranks) ranks.inc({ host }, ended ? 0 : 1)
    }
    if (event !== 'step' || typeof rest.stats !== 'object' || rest.stats === null) return
    for (const [stat, value] of Object.entries(rest.stats)) if (typeof value === 'number') stats.set({ stat }, value)
  }
}
