import { Counter, Gauge } from 'prom-client'
import type { Metrics } from '../../swarm/index.js'
import { isOfRanks, type TrainerEvent } from './trainer-events.js'

/** Shows what the trainer says of its steps. @returns  to be called with each of its events */
export function meterTrainer(registers: Metrics): (event: TrainerEvent) => void {
  const events = new Counter({
    name: 'prove_trainer_events_total',
    help: 'Events of the trainer since the coordinator was started: ready, ranks, training, measured, step, skipped, rejected, error',
    labelNames: ['event'],
    registers: [registers],
  })
  const stats = new Gauge({
    name: 'prove_trainer_step_stat',
    help: 'Numbers of the last step, by the names of docs/trainer.md',
    labelNames: ['stat'],
    registers: [registers],
  })
  const ranks = new Gauge({
    name: 'prove_trainer_ranks',
    help: "Ranks of a trainer on several machines that have reported and have not ended, by the machine's own name",
    labelNames: ['host'],
    registers: [registers],
  })
  return (news) => {
    const { event, ...rest } = news
    events.inc({ event })
    if (isOfRanks(news)) {
      ranks.reset()
      for (const { host, ended } of news.ranks) ranks.inc({ host }, ended ? 0 : 1)
    }
    if (event !== 'step' || typeof rest.stats !== 'object' || rest.stats === null) return
    for (const [stat, value] of Object.entries(rest.stats)) if (typeof value === 'number') stats.set({ stat }, value)
  }
}
