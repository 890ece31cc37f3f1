import type { Gateway } from 'guard-gateway/core'
import { exportFormatKind } from 'guard-gateway/lib/export-format'
import { bytesText } from 'guard-gateway/lib/format'
import { type Html, html } from 'guard-gateway/lib/html'
import { readJson } from 'guard-gateway/lib/json'
import type { Trace } from 'guard-gateway/lib/trace'
import { writeTrace } from 'guard-gateway/lib/trace-file'
import { indented } from './indented.ts'

const MAX_CHARS = 200_000

/** Start of a run's exported bundle; a short one is indented. */
export const rawView = (gateway: Gateway, trace: Trace): Html => {
  let text = ''
  for (const piece of writeTrace(gateway.registry(exportFormatKind).need('json'), trace)) {
    text += piece
    if (text.length > MAX_CHARS) break
  }
  const cut = text.length > MAX_CHARS
  return html`${cut && html`<p class="quiet">The first ${bytesText(MAX_CHARS)}; an export holds all of it.</p>`}
<pre class="raw" tabindex="0" role="region" aria-label="Bundle">${cut ? text.slice(0, MAX_CHARS).toWellFormed() : indented(readJson(text))}</pre>`
}
