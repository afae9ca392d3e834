/** Who may ask a server that listens on this machine. */
export interface Access {
  /** Host names that requests may be for, lower case, without a port. */
  readonly hosts: ReadonlySet<string>
  /** Origins whose pages may ask, such as `http://localhost:5173`. Programs send none. */
  readonly origins: ReadonlySet<string>
}

export interface AccessRefusal {
  readonly code: 'host_not_allowed' | 'origin_not_allowed'
  readonly message: string
}

/**
 * Why a request is not answered: a page that rebinds its name to this machine, or asks from another origin, shows in these headers.
 * The server's own origin is nobody else's: its host was looked at before, and the port is ours.
 */
export function accessRefusal({ headers }: Request, { hosts, origins }: Access): AccessRefusal | null {
  const [host, origin] = [headers.get('host') ?? '', headers.get('origin')]
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : ''
  if (!hosts.has(name)) return { code: 'host_not_allowed', message: `The host ${host} is not allowed.` }
  if (origin !== null && origin !== `http://${host}` && !origins.has(origin))
    return { code: 'origin_not_allowed', message: `The origin ${origin} is not allowed.` }
  return null
}

/** Whether a text is an origin as a browser writes it: scheme and host, and a port where it is not the usual one. */
export const isOrigin = (text: string): boolean =>
  URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text)

/** Names under which the loopback interface is asked, beside a name or address that a server listens on. */
export const hostsOf = (host: string, others: readonly string[] = []): ReadonlySet<string> =>
  new Set(['127.0.0.1', 'localhost', '[::1]', host.includes(':') ? `[${host}]` : host, ...others])

/** Whether only this machine reaches what listens there. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.[\d.]+$/.test(host)
