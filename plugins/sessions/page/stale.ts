import { html, instantMark } from 'guard-gateway/lib/html'
import type { Sent } from 'guard-gateway/lib/page'
import { stateToken } from 'guard-gateway/lib/terminal'

/** A session or agent whose state a form has shown. */
type PausableRow = Parameters<typeof stateToken>[0]

/** The answer to a form that would resume or end a session whose state has changed since it was rendered; undefined: the state is the same, or the form has none. To pause twice is harmless. */
export const staleForm = (
  act: string,
  what: string,
  row: PausableRow,
  fields: URLSearchParams,
  now: number,
): Sent | undefined => {
  const shown = fields.get('shown')
  if ((act !== 'resume' && act !== 'end') || shown === null || shown === stateToken(row)) return undefined
  const main = html`<h1>Not what was shown</h1><p>${what} is ${stateText(stateToken(row), now)}; the page showed it as ${stateText(shown, now)}. Nothing is changed.</p><p><a href="/sessions">Look at the sessions as they are now</a></p>`
  return { view: { title: 'Not what was shown · Sessions', main, status: 409 } }
}

const stateText = (state: string, now: number) => {
  const [word, at] = state.split(' ', 2)
  const since = Number(at)
  return html`${word === 'paused' || word === 'ended' ? word : 'open'}${Number.isSafeInteger(since) && since > 0 && html` since ${instantMark(since, now)}`}`
}
