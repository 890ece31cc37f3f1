import type { Gateway } from 'guard-gateway/core'
import { approverField } from '#lib/approver'
import { type Html, html } from '#lib/html'
import { elideProcessPart } from '#lib/ids'
import type { Ask } from '#lib/page'
import { stateToken } from '#lib/terminal'
import { visibleAgent } from '../agents.ts'
import type { AgentRow } from '../tables.ts'

/** A button that pauses or resumes a session or an agent; it belongs to the form of `pauseForm`. */
export const pauseButton = (
  kind: 'sessions' | 'agents',
  row: { readonly id: string } & Parameters<typeof stateToken>[0],
): Html => {
  const { id, paused } = row
  const act = paused ? 'resume' : 'pause'
  const [word, thing] = [paused ? 'Resume' : 'Pause', kind === 'sessions' ? 'session' : 'agent']
  return html`<button class="plain" form="pause" formaction="/ui/${kind}/${encodeURIComponent(id)}/${act}" name="shown" value="${stateToken(row)}" aria-label="${word} ${thing} ${id}">${word}</button>`
}

/** The one form of all these buttons, with the key for those that resume, where one is needed. */
export const pauseForm = ({ approver }: Gateway, { url, refused }: Ask): Html =>
  html`<form id="pause"${approver.needsKey && html` class="filters"`} method="post"><input type="hidden" name="return_to" value="${url}">${approverField(approver, refused?.form === 'agents/resume' ? refused.faults : undefined, 'optional')}${approver.needsKey && html`<span class="quiet">needed to resume</span>`}</form>`

/** Whether something is paused or ended, as a shape and a word. */
export const pausedMark = (paused: boolean, ended_at: number | null = null): Html => {
  if (!paused) return html`<span class="quiet">open</span>`
  return ended_at === null
    ? html`<strong class="warning status"><span aria-hidden="true">■</span> paused</strong>`
    : html`<span class="quiet status"><span aria-hidden="true">■</span> ended</span>`
}

/** Whether an agent is paused, and where, as far as whoever asks may see. */
export const agentState = (agent: AgentRow): Html => {
  const { paused, paused_in } = visibleAgent(agent)
  const names = paused_in?.projects.join(', ') ?? ''
  return html`${pausedMark(paused)}${names !== '' && html` <span class="quiet">${paused_in?.everywhere ? 'but not in' : 'in'} ${names}</span>`}`
}

const LONG_CHARS = 22

const middled = (name: string): string =>
  `${name.slice(0, LONG_CHARS - 9).toWellFormed()}…${elideProcessPart(name).slice(-8).toWellFormed()}`

/** A name, cut in the middle if it is long. */
export const shortName = (name: string): string => (name.length <= LONG_CHARS ? name : middled(name))

/** A name, on one line if it is short; of one that is cut, all to hover over. */
export const nameMark = (name: string): Html =>
  name.length <= LONG_CHARS
    ? html`<span class="status">${name}</span>`
    : html`<span title="${name}">${middled(name)}</span>`
