/** The hosts and origins whose requests an HTTP server on this machine accepts. */
export interface Access {
  /** Accepted values of the Host header, lower case, without a port. */
  readonly hosts: ReadonlySet<string>
  /** Accepted origins of web pages, such as `http://localhost:5173`. Programs send no origin. */
  readonly origins: ReadonlySet<string>
}

export interface AccessRefusal {
  readonly code: 'host_not_allowed' | 'origin_not_allowed'
  readonly message: string
}

/**
 * Decides whether to refuse a request. The headers reveal a page that rebinds its name to this machine, or that has another origin. The
 * server's own origin is accepted, because its host is checked first and the port is the server's.
 */
export function accessRefusal({ headers }: Request, { hosts, origins }: Access): AccessRefusal | null {
  const [host, origin] = [headers.get('host') ?? '', headers.get('origin')]
  const name = URL.canParse(`http://${host}`) ? new URL(`http://${host}`).hostname : ''
  if (!hosts.has(name)) return { code: 'host_not_allowed', message: `The host ${host} is not allowed.` }
  if (origin !== null && origin !== `http://${host}` && !origins.has(origin))
    return { code: 'origin_not_allowed', message: `The origin ${origin} is not allowed.` }
  return null
}

/** Tests whether a text is an origin as browsers write it: scheme, host, and a port other than the default. */
export const isOrigin = (text: string): boolean =>
  URL.canParse(text) && new URL(text).origin === text && /^https?:/.test(text)

/** Returns the host names of the loopback interface, and those that a server listens on. */
export const hostsOf = (host: string, others: readonly string[] = []): ReadonlySet<string> =>
  new Set(['127.0.0.1', 'localhost', '[::1]', host.includes(':') ? `[${host}]` : host, ...others])

/** Tests whether only this machine can reach a server on a host. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127\.[\d.]+$/.test(host)
