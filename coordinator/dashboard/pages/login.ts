import { html } from 'hono/html'
import { head, type Markup } from '../page.js'

/** Renders the login page. @param problem  why the previous attempt failed */
export const login = (problem: string | null): Markup => html`<!doctype html>
<html lang="en">
${head('Log in')}
<body class="door-page">
<main id="content">
<h1>Log in</h1>
${problem === null ? '' : html`<p class="note" role="alert">${sentence(problem)}</p>`}
<form method="post" action="/login">
<label for="token">Token of the run</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button>Log in</button>
</form>
<p class="quiet">The token is in the file that <code>dashboard.tokenFile</code> in run.yaml names.</p>
</main>
</body>
</html>`

const sentence = (words: string): string => `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`
