import type { Gateway } from 'guard-gateway/core'
import { type Html, html, raw } from 'guard-gateway/lib/html'
import type { Ask, Page } from 'guard-gateway/lib/page'
import type { Trace } from 'guard-gateway/lib/trace'
import type { RunCache } from '../read/run-cache.ts'
import { artifactsView } from './artifacts.ts'
import { eventsView } from './events.ts'
import { unnamedTitle } from './first-steps.ts'
import { runLink } from './folding.ts'
import { titleOf } from './format.ts'
import { rawView } from './raw-view.ts'
import { runHead } from './run-head.ts'
import { timeline } from './timeline.ts'
import { LONG_ROWS } from './timeline-view.ts'
import { useView } from './use/use-view.ts'
import { whyBox } from './why/why-box.ts'

/** Page of a run: why it failed, timeline, models and tools, events, files, raw bundle. Throws RUN_NOT_FOUND. */
export const runPage = (gateway: Gateway, cache: RunCache): Page => ({
  id: 'replay/run',
  path: '/replay/:trace_id',
  render: async (ask) => {
    const trace = await cache.trace(ask.params.trace_id ?? '')
    const { run } = trace
    const step = run.name === null ? await unnamedTitle(gateway.storage, run) : undefined
    // long runs are not live, because an update of thousands of rows is slow
    const live = trace.spans.length <= LONG_ROWS ? html` data-live="${run.trace_id}"` : ''
    const main = html`<div class="run"${live}>
${runHead(gateway, trace, ask, step)}
${await whyBox(gateway, trace, ask)}
${tabs(trace, ask)}
${viewOf(gateway, trace, ask)}
</div>`
    return { title: `${titleOf(run, step)} · Replay`, main }
  },
})

const views = ['timeline', 'use', 'events', 'artifacts', 'raw'] as const
type ViewName = (typeof views)[number]

const chosenView = ({ query }: Ask): ViewName => views.find((name) => name === query.get('view')) ?? 'timeline'

const tabs = ({ run }: Trace, ask: Ask): Html => {
  const chosen = chosenView(ask)
  const labels = {
    timeline: 'Timeline',
    use: 'Models and tools',
    events: `Events (${run.event_count})`,
    artifacts: `Files (${run.artifact_count})`,
    raw: 'Raw',
  }
  return html`<nav class="chips tabs" aria-label="Views">${views.map(
    (name) =>
      html`<a href="${runLink(ask.query, { view: name === 'timeline' ? null : name, after: null })}"${name === chosen ? raw` aria-current="true"` : ''}>${labels[name]}</a>`,
  )}</nav>`
}

const viewOf = (gateway: Gateway, trace: Trace, ask: Ask): Html => {
  switch (chosenView(ask)) {
    case 'use':
      return useView(gateway, trace)
    case 'events':
      return eventsView(trace, ask.query)
    case 'artifacts':
      return artifactsView(trace)
    case 'raw':
      return rawView(gateway, trace)
    default:
      return timeline(gateway, trace, ask)
  }
}
