import { homedir } from 'node:os'
import { join } from 'node:path'
import { NodeError } from '../report/errors.js'
import { AGENT_LABEL, agentFile, type Service, UNIT_NAME, unitFile } from './service-file.js'

/** How a system is told of a service of its user. */
export interface ServiceManager {
  /** Where the file belongs. */
  readonly path: string
  text(service: Service): string
  /** Commands that start it now and with every session. */
  readonly enable: readonly string[]
  /** Commands that end it, before the file goes. */
  readonly disable: readonly string[]
  /** What its owner wants to know besides. */
  readonly notes: (service: Service) => readonly string[]
}

/** @throws NodeError `no_service` */
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
          `what it says:  journalctl --user -u ${UNIT_NAME} -f`,
          'to let it run while you are not logged in:  loginctl enable-linger',
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
        notes: ({ logFile }) => [`what it says:  tail -f '${logFile}'`],
      }
    }
    default:
      throw new NodeError(
        'no_service',
        `no service can be installed on ${platform}: there are files for systemd (Linux) and launchd (macOS). Start prove-node join by the system's own scheduler`,
      )
  }
}
