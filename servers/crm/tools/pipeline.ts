import { pipelineValue } from '../rules.js'
import type { Context, Deal } from '../schema.js'

/** Changes what a rep has open. */
export function addToPipeline({ db }: Pick<Context, 'db'>, rep: string, change: number): void {
  if (change !== 0) db.reps.update(rep, { pipeline: db.reps.get(rep)!.pipeline + change })
}

/** Closes the deal's open discount request, if it has one; the deal must then be changed to have none. */
export function withdrawRequest({ db }: Pick<Context, 'db'>, { request }: Deal): void {
  if (request !== null) db.discount_requests.update(request, { status: 'withdrawn' })
}

/** Changes a deal and, with it, the pipelines of the reps concerned. */
export function changeDeal(context: Pick<Context, 'db'>, deal: Deal, patch: Partial<Deal>): Deal {
  const changed = context.db.deals.update(deal.deal, patch)
  if (changed.rep === deal.rep) addToPipeline(context, deal.rep, pipelineValue(changed) - pipelineValue(deal))
  else {
    addToPipeline(context, deal.rep, -pipelineValue(deal))
    addToPipeline(context, changed.rep, pipelineValue(changed))
  }
  return changed
}
