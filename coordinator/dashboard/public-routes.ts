import { readFile } from 'node:fs/promises'
import { join as pathOf } from 'node:path'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { packageRoot } from '../../common/cli/index.js'
import type { Access } from './access.js'
import { DASHBOARD_LIMITS } from './limits.js'
import { ORDER, takeOrder } from './orders.js'
import { login } from './pages/login.js'
import { type App, clientOf, type DashboardParts } from './routes.js'
import { LATER, TOO_MANY_WRONG_TOKENS } from './unauthorized.js'

/** Cookie of a session. */
export const COOKIE = 'prove_dashboard'
const ASSETS = { 'dashboard.css': 'text/css', 'live.js': 'text/javascript', 'icon.svg': 'image/svg+xml' } as const

/** Adds the routes that do not depend on the visitor: health, assets, login, and orders, which check the token themselves. */
export function addPublicRoutes(app: App, parts: DashboardParts, access: Access): void {
  app.get('/healthz', (context) => {
    const isSound = parts.isSound()
    return context.json({ status: isSound ? 'ok' : 'broken' }, isSound ? 200 : 503)
  })
  app.get('/assets/:name', async (context) => {
    const name = context.req.param('name')
    if (!Object.hasOwn(ASSETS, name)) return context.notFound()
    const content = await readFile(pathOf(packageRoot, 'coordinator', 'dashboard', 'assets', name))
    return context.body(content, 200, {
      'Content-Type': ASSETS[name as keyof typeof ASSETS],
      'Cache-Control': 'no-cache',
    })
  })
  app.get('/login', (context) => (access.hasToken ? context.html(login(null)) : context.redirect('/')))
  app.post('/login', async (context) => {
    const { token } = await context.req.parseBody()
    const entered = access.logIn(typeof token === 'string' ? token.trim() : '', clientOf(context))
    if (entered === 'later') return context.html(login(TOO_MANY_WRONG_TOKENS), 429, LATER)
    if (entered === 'wrong') return context.html(login('the token is wrong'), 403)
    const { session } = entered
    const secure = context.req.header('origin')?.startsWith('https:') ?? false
    setCookie(context, COOKIE, session, {
      ...{ httpOnly: true, sameSite: 'Strict', path: '/', secure },
      maxAge: DASHBOARD_LIMITS.sessionMs / 1000,
    })
    return context.redirect('/', 303)
  })
  app.post('/logout', (context) => {
    access.logOut(getCookie(context, COOKIE))
    deleteCookie(context, COOKIE, { path: '/' })
    return context.redirect(access.hasToken ? '/login' : '/', 303)
  })
  app.post(ORDER, (context) => takeOrder(context, { hasToken: access.hasToken, token: context.var.token }, parts))
}
