import { type Html, html } from 'guard-gateway/lib/html'
import type { Trace, TreeSpan } from 'guard-gateway/lib/trace'
import { runLink } from '../folding.ts'
import { numbered, rowId } from '../format.ts'
import { shapeOfTrace, spanTitle } from '../shape.ts'

/** A step of the run as a link that selects it; by its number alone among others of its name. */
export type StepLink = (span: TreeSpan, text?: 'title' | 'number') => Html

export const stepLink = (trace: Trace, query: URLSearchParams): StepLink => {
  const shape = shapeOfTrace(trace)
  return (span, text = 'title') => {
    const title = spanTitle(shape, span)
    const href = runLink(query, { span: span.id, view: null, after: null }, rowId(span.id))
    return html`<a class="step" href="${href}">${text === 'number' ? (/#\d+$/.exec(title)?.[0] ?? title) : numbered(title)}</a>`
  }
}
