import { bytesText } from 'guard-gateway/lib/format'
import { type Html, html } from 'guard-gateway/lib/html'
import type { Trace } from 'guard-gateway/lib/trace'
import { numbered, spanUrl } from './format.ts'
import { shapeOfTrace, spanTitle } from './shape.ts'
import { idMark } from './values.ts'

/** Metadata of a run's files; contents are not stored. */
export const artifactsView = (trace: Trace): Html => {
  const { artifacts, spans, run } = trace
  if (artifacts.length === 0) return html`<p class="empty">This run names no files.</p>`
  const shape = shapeOfTrace(trace)
  return html`<table class="list stacks"><thead><tr><th scope="col" class="free">Path</th><th scope="col">Type</th><th scope="col" class="figure">Size</th><th scope="col">Span</th><th scope="col">SHA-256</th></tr></thead><tbody>
${artifacts.map(({ id, path, mime_type, size, sha256, span_id }) => {
  const span = spans[(span_id === null ? undefined : shape.places.get(span_id)) ?? -1]
  return html`<tr id="artifact-${id}" data-row><th scope="row"><code>${path}</code></th><td>${mime_type}</td><td class="figure">${size !== null && html`<span title="${size} bytes">${bytesText(size)}</span>`}</td>
<td>${span !== undefined && html`<a href="${spanUrl(run.trace_id, span.id)}">${numbered(spanTitle(shape, span))}</a>`}</td><td>${sha256 !== null && idMark(sha256)}</td></tr>`
})}</tbody></table>`
}
