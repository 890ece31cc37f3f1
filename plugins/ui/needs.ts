import type { Gateway } from 'guard-gateway/core'
import { html } from 'guard-gateway/lib/html'
import { type Ask, type Panel, type Waiting, type WaitingSource, waitingSourceKind } from 'guard-gateway/lib/page'

/** All that waits for a person, a line each; first on the start page, after its figures. */
export const needsPanel = (gateway: Gateway): Panel => ({
  id: 'ui/needs',
  order: 0,
  render: async (ask) => {
    const sources = [...gateway.registry(waitingSourceKind)].sort((one, other) => one.order - other.order)
    const found = await Promise.all(sources.map((source) => waitingOf(gateway, source, ask)))
    const total = found.reduce((sum, waiting) => sum + waiting.total, 0)
    if (total === 0) return undefined
    return html`<h2 id="needs">Needs you (${total})</h2>
<ul class="needs" aria-labelledby="needs">${found.flatMap(({ lines }) =>
      lines.map(
        (line) => html`${line}
`,
      ),
    )}</ul>
${found.map(({ note }) => note !== undefined && html`<p class="quiet">${note}</p>`)}`
  },
})

/** A source that throws hides nothing of the others. */
const waitingOf = async (gateway: Gateway, source: WaitingSource, ask: Ask): Promise<Waiting> => {
  try {
    return await source.waiting(ask)
  } catch (error) {
    gateway.fault(error, `waiting:${source.id}`)
    return { lines: [], total: 0 }
  }
}
