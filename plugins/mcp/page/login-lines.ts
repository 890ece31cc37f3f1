import { type Html, html, instantMark } from 'guard-gateway/lib/html'
import { loginCommand } from '../login/login-texts.ts'
import type { LoginView } from '../login/schemas.ts'
import type { ServerView } from '../management/server-schemas.ts'

/** The logins at a server, each with the command that somebody must run, if there is one. */
export const loginLines = ({ id, logins }: ServerView, now: number): Html | false =>
  logins !== null &&
  html`${logins.length === 0 && html`<p class="quiet">Each agent logs in for itself: <code>${loginCommand({ server_id: id, agent_id: '' })} --agent …</code></p>`}${logins.map((login) => loginLine(id, login, now))}`

const loginLine = (server_id: string, login: LoginView, now: number): Html => {
  const { agent_id, state, reason, issuer, wanted, expires_at, renewable } = login
  const whose = agent_id === null ? '' : ` of ${agent_id}`
  const command = html`<code>${loginCommand({ server_id, agent_id: agent_id ?? '' })}</code>`
  if (state === 'needed') return html`<p class="warning">Nobody has logged in. Run ${command}</p>`
  if (state === 'ended') return html`<p class="warning">The login${whose} has ended: ${reason} Run ${command}</p>`
  const until =
    expires_at !== null && html`, ${renewable ? 'renewed' : 'over'} ${instantMark(Date.parse(expires_at), now)}`
  return html`<p class="quiet">Logged in${whose} at ${issuer}${until}${state === 'wants_more' && html`. <span class="warning">The server wants more rights (${wanted.join(' ')}): run ${command}</span>`}</p>`
}
