import { type Html, html } from '#lib/html'
import { terminalLine } from '#lib/text'
import type { Caller } from '../judge/tool-call.ts'
import type { RuleFinding } from '../judge/verdict.ts'
import type { RecordedFinding } from '../results/recorded-finding.ts'

const HASH_CHARS = 8

/** The beginning of a hash, with all of it to hover over. */
export const shortHash = (hash: string): Html => html`<code title="${hash}">${hash.slice(0, HASH_CHARS)}…</code>`

const ONE_LINE_CHARS = 28

/** A name of a server or tool, on one line if it is not long. */
export const nameMark = (name: string | null): Html =>
  name !== null && name.length <= ONE_LINE_CHARS ? html`<span class="status">${name}</span>` : html`${name}`

/** A link to the place in Replay where a call is. */
export const spanLink = (trace_id: string | null, span_id: string | null, words: string): Html => {
  if (trace_id === null) return html``
  const run = `/replay/${encodeURIComponent(trace_id)}`
  const span = span_id === null ? '' : encodeURIComponent(span_id)
  return html`<a href="${span === '' ? run : `${run}?span=${span}#span-${span}`}">${words}</a>`
}

/** What the client got of a result in which a check found something. */
const DONE: Readonly<Record<RecordedFinding['action'], string>> = {
  shadow: 'recorded only',
  redact: 'replaced',
  cut: 'cut',
  deny: 'result withheld',
}

/** What checks found in the result of a call. */
export const resultFindingList = (findings: readonly RecordedFinding[] | null): Html =>
  findings === null || findings.length === 0
    ? html``
    : html`<ul class="findings">${findings.map(
        ({ check, pointer, reason, certain, action, rule_id }) =>
          html`<li><strong class="warning">${check}</strong> result <code>${terminalLine(pointer)}</code> ${reason}${!certain && html` <span class="quiet">could not tell</span>`} <span class="quiet">${DONE[action]}, ${rule_id}</span></li>`,
      )}</ul>`

/** Who made a call, as far as that is known. */
export const callerMark = (caller: Caller | null): Html => {
  if (caller === null) return html``
  const { key, ...names } = caller
  const known = Object.entries({ ...names, key: key.at(-1) ?? null }).filter(([, name]) => name !== null)
  const words = known.map(([what, name]) => `${what} ${terminalLine(name ?? '')}`).join(', ')
  return html` <span class="quiet">asked by ${words === '' ? 'nobody known' : words}</span>`
}

/** What checks found in the arguments of a call. */
export const findingList = (findings: readonly RuleFinding[] | null): Html =>
  findings === null || findings.length === 0
    ? html``
    : html`<ul class="findings">${findings.map(
        ({ check, pointer, reason, certain, rule_id }) =>
          html`<li><strong class="warning">${check}</strong> <code>${pointer}</code> ${reason}${!certain && html` <span class="quiet">could not tell</span>`} <span class="quiet">rule ${rule_id}</span></li>`,
      )}</ul>`
