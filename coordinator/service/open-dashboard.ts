import { systemClock } from '../../swarm/index.js'
import { DashboardError } from '../dashboard/errors.js'
import type { DashboardParts } from '../dashboard/routes.js'
import { type Dashboard, serveDashboard } from '../dashboard/server.js'
import type { Recorder } from '../ledger/recorder.js'
import type { CoordinatorOptions } from './progress.js'

type DashboardSources = Pick<
  DashboardParts,
  'report' | 'metrics' | 'taskSet' | 'tokenizer' | 'blobs' | 'bodies' | 'invitation' | 'manifests' | 'takeOrder'
> & { readonly recorder: Recorder }

/** Serves the dashboard. @returns  null when the address is not available. @throws DashboardError `bad_token` */
export async function openDashboard(options: CoordinatorOptions, sources: DashboardSources): Promise<Dashboard | null> {
  const { recorder, ...parts } = sources
  const { config, logger, onProgress } = options
  let isSound = true
  recorder.failure.catch(() => {
    isSound = false
  })
  try {
    const { dashboard: settings } = config
    const isPublic = settings.public || options.publicDashboard === true
    const dashboard = await serveDashboard(
      { ...settings, public: isPublic },
      {
        ...{ ...parts, config, clock: systemClock, logger: logger.child({ part: 'dashboard' }) },
        isSound: () => isSound,
      },
    )
    onProgress({ type: 'dashboard', url: dashboard.url })
    return dashboard
  } catch (error) {
    if (!(error instanceof DashboardError && error.code === 'not_listening')) throw error
    onProgress({ type: 'no-dashboard', why: error.detail })
    return null
  }
}
