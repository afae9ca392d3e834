import { homedir } from 'node:os'
import { join } from 'node:path'
import { NodeError } from '../report/errors.js'
import { AGENT_LABEL, agentFile, type Service, UNIT_NAME, unitFile } from './service-file.js'

/** The service manager of a system. */
export interface ServiceManager {
  /** Path of the service file. */
  readonly path: string
  text(service: Service): string
  /** Commands that start the service now and with every session. */
  readonly enable: readonly string[]
  /** Commands that end the service. */
  readonly disable: readonly string[]
  /** More texts for the owner. */
  readonly notes: (service: Service) => readonly string[]
}

/** Returns the service manager of a platform. @throws NodeError `no_service` */
export function serviceManagerOf(platform: NodeJS.Platform, env: NodeJS.ProcessEnv = process.env): ServiceManager {
  switch (platform) {
    case 'linux': {
      const path = join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'systemd', 'user', UNIT_NAME)
      return {
        path,
        text: unitFile,
        enable: ['systemctl --user daemon-reload', `systemctl --user enable --now ${UNIT_NAME}`],
        disable: [`systemctl --user disable --now ${UNIT_NAME}`],
        notes: () => [
          `to read the output:  journalctl --user -u ${UNIT_NAME} -f`,
          'to run it while you are not logged in:  loginctl enable-linger',
        ],
      }
    }
    case 'darwin': {
      const path = join(homedir(), 'Library', 'LaunchAgents', `${AGENT_LABEL}.plist`)
      return {
        path,
        text: agentFile,
        enable: [`launchctl bootstrap gui/$(id -u) '${path}'`],
        disable: [`launchctl bootout gui/$(id -u)/${AGENT_LABEL}`],
        notes: ({ logFile }) => [`to read the output:  tail -f '${logFile}'`],
      }
    }
    default:
      throw new NodeError(
        'no_service',
        `cannot install a service on ${platform}: only systemd (Linux) and launchd (macOS) are supported. Start prove-node join with the scheduler of the system`,
      )
  }
}
