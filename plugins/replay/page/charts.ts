import type { Gateway } from 'guard-gateway/core'
import { type Html, html } from 'guard-gateway/lib/html'
import { type Ask, CHART_PARAMETERS } from 'guard-gateway/lib/page'

/** Filters that the sums know, the time among them. */
const APPLIED = ['project_id', 'agent', 'agent_id', 'since', 'until']
/** What is no filter. */
const NEUTRAL = ['sort', 'order', 'limit', 'cursor', 'back', 'notice', ...CHART_PARAMETERS]
/** Runs of one session or task are few; what all others did says nothing of them. */
const NARROW = ['session_id', 'task_id']

/** Requests over time above the list, by those of its filters that the sums know. */
export const listCharts = async (gateway: Gateway, ask: Ask): Promise<Html | undefined> => {
  const { query } = ask
  const given = [...new Set(query.keys())].filter((name) => query.get(name) !== '')
  if (given.some((name) => NARROW.includes(name))) return undefined
  const only = (name: string) => query.get(name) || undefined
  const agent_id = only('agent_id') ?? only('agent')
  const charts = gateway.service('charts').get()
  const options = { ask, isList: true, project_id: only('project_id'), agent_id }
  const drawn = await charts?.strip(options).catch((error: unknown) => {
    gateway.fault(error, 'replay:charts')
    return undefined
  })
  if (drawn === undefined) return undefined
  const others = given.filter((name) => !APPLIED.includes(name) && !NEUTRAL.includes(name))
  return html`<section aria-label="Requests over time">${drawn}${
    others.length > 0 &&
    html`<p class="quiet">The charts count all requests of this time${agent_id !== undefined && ', agent'}${only('project_id') !== undefined && ', project'}; they do not know the filter${others.length > 1 && 's'} ${others.join(', ')}.</p>`
  }</section>`
}
