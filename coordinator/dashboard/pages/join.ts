import { html } from 'hono/html'
import encodeQR from 'qr'
import { live, type Markup } from '../page.js'

/** Renders the invitation, to copy or to scan. */
export function join(invitation: string): Markup {
  return live(
    'join',
    html`<p>Volunteers with Node.js 20.19 or newer and this program join with:</p>
<pre class="command" tabindex="0">prove-node join ${invitation}</pre>
<p>The invitation contains the run, its addresses and its base model. It is signed, so changes are detected. It is not secret.</p>
<figure class="code"><img src="/join/code.svg" alt="The invitation as a QR code" width="320" height="320"><figcaption>The invitation as a QR code</figcaption></figure>`,
  )
}

/** Draws the invitation as a QR code. The code is black on white in all colours of the page, because cameras expect that. */
export const invitationCode = (invitation: string): string => {
  const modules = encodeQR(invitation, 'raw', { ecc: 'low', border: 4 })
  const path = modules.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('')
  const size = modules.length
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${size}v${size}H0z"/><path d="${path}"/></svg>`
}
