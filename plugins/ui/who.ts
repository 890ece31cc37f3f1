import { html } from 'guard-gateway/lib/html'
import { currentPrincipal, hasScope } from 'guard-gateway/lib/principal'

/** Who is logged in, with what ends it; nothing on loopback, where nobody logs in. */
export const whoIsIn = () => {
  const principal = currentPrincipal()
  if (principal === undefined || principal.kind === 'loopback') return false
  const { name, kind, projects } = principal
  return html`<div class="who">${hasScope(principal, 'admin') && html`<a href="/keys">Keys</a><a href="/audit">Audit</a>`}<span><bdi>${name}</bdi>${projects !== null && html` <span class="quiet">sees ${projects.join(', ')}</span>`}</span>${kind === 'session' && html`<form method="post" action="/logout"><button>Log out</button></form>`}</div>`
}
