import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { getCookie } from 'hono/cookie'
import { secureHeaders } from 'hono/secure-headers'
import type { Access } from './access.js'
import { addDataRoutes } from './data-routes.js'
import { DASHBOARD_LIMITS } from './limits.js'
import { addPageRoutes } from './page-routes.js'
import { addPublicRoutes, COOKIE } from './public-routes.js'
import { type App, clientOf, type DashboardParts, type Env } from './routes.js'
import { LATER, TOO_MANY_WRONG_TOKENS, unauthorized } from './unauthorized.js'

const SELF = ["'self'"]
const POLICY = {
  ...{ defaultSrc: ["'none'"], baseUri: ["'none'"], frameAncestors: ["'none'"], formAction: SELF },
  ...{ scriptSrc: SELF, styleSrc: SELF, imgSrc: SELF, connectSrc: SELF },
}
/** Policy of an SVG drawing, which may have inline styles and nothing else. */
const DRAWING_POLICY = { defaultSrc: ["'none'"], styleSrc: ["'unsafe-inline'"] }
const guarded = (contentSecurityPolicy: typeof POLICY | typeof DRAWING_POLICY) =>
  secureHeaders({
    contentSecurityPolicy,
    // With 'no-referrer', browsers would omit the origin of a form too.
    referrerPolicy: 'same-origin',
    // The proxy that terminates TLS decides about HSTS.
    strictTransportSecurity: false,
  })

/** Assembles all routes. Routes that strangers may use are added before the middleware that rejects strangers. */
export function dashboardApp(parts: DashboardParts, access: Access, signal: AbortSignal): App {
  const app = new Hono<Env>()
  // The first policy that is set for a path takes precedence.
  for (const path of ['/charts/*', '/join/code.svg']) app.use(path, guarded(DRAWING_POLICY))
  app.use(guarded(POLICY))
  identifyVisitors(app, access)
  app.use(
    bodyLimit({
      maxSize: DASHBOARD_LIMITS.requestBytes,
      onError: (context) => context.text('the request is too large\n', 413),
    }),
  )
  addPublicRoutes(app, parts, access)
  rejectStrangers(app)
  addPageRoutes(app, parts, access)
  addDataRoutes(app, parts, signal)
  app.notFound((context) => context.text('page not found\n', 404))
  app.onError((error, context) => {
    parts.logger.error({ error, path: context.req.path }, 'a page could not be shown')
    return context.text('internal error: see the log of the coordinator\n', 500)
  })
  return app
}

function identifyVisitors(app: App, access: Access): void {
  app.use(async (context, next) => {
    const why = access.refusal({ host: context.req.header('host'), origin: context.req.header('origin') })
    if (why !== null) return context.text(`${why}\n`, 403)
    const token = access.bearer(context.req.header('authorization'), clientOf(context))
    context.set('token', token)
    context.set('visitor', access.visitor({ token, session: getCookie(context, COOKIE) }))
    context.header('Cache-Control', 'no-store')
    return next()
  })
}

function rejectStrangers(app: App): void {
  app.use(async (context, next) => {
    if (context.var.visitor !== 'stranger') return next()
    if (context.var.token === 'later') return context.text(`${TOO_MANY_WRONG_TOKENS}\n`, 429, LATER)
    const asksForPage = context.req.header('accept')?.includes('text/html') ?? false
    if (asksForPage && context.req.method === 'GET') return context.redirect('/login', 303)
    return unauthorized(context)
  })
}
