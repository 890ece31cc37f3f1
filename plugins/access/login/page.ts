import { html } from 'guard-gateway/lib/html'
import type { View } from 'guard-gateway/lib/page'

/** What a login page says. */
export interface LoginState {
  /** Path to go to afterwards. */
  readonly next: string
  /** What was wrong with the key. */
  readonly fault?: string | undefined
  /** Some live key may administer. */
  readonly hasAdmin: boolean
}

/** The page that turns a key into a login. It works without script. */
export const loginView = ({ next, fault, hasAdmin }: LoginState): View => ({
  title: 'Log in',
  main: html`<h1>Log in</h1>
<p>This gateway can be reached from other machines, so its pages ask who you are.</p>
${!hasAdmin && noAdmin}
${fault !== undefined && html`<p class="faults" role="alert" id="fault-key">${fault}</p>`}
<form class="login" method="post" action="/login"><input type="hidden" name="next" value="${next}">
<label for="key">Key</label><input id="key" type="password" name="key" autocomplete="current-password" required${fault !== undefined && html` aria-invalid="true" aria-describedby="fault-key"`}>
<button class="main">Log in</button></form>
<p class="quiet">Whoever administers the gateway makes keys, with <code>guard key create --scope read</code> or on its page Keys.</p>`,
})

const noAdmin = html`<p class="notice" role="status">There is no key that may administer yet. On the machine of the gateway make one: <code>guard key create --name you --scope admin</code></p>`

/** On loopback nobody logs in. */
export const needlessView: View = {
  title: 'Log in',
  main: html`<h1>Log in</h1>
<p>Nobody needs to: only this machine reaches the gateway. <a href="/">What is going on now</a></p>`,
}
