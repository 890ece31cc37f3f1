import { text } from 'node:stream/consumers'
import type { AskStream } from 'guard-gateway/lib/command'
import { readJson } from 'guard-gateway/lib/json'
import type { RunSummary } from 'guard-gateway/lib/trace-file'
import type { RowsPage } from '../read/rows.ts'
import { runPath } from './run-id.ts'
import type { EventView, SpanView } from './show-rows.ts'

/** A run as the command shows it: each tool call one span, with tokens and cost. */
export interface ShownRun {
  readonly run: RunSummary
  readonly spans: readonly SpanView[]
  readonly events: readonly EventView[]
  /** The answer of the gateway as it came. */
  readonly answer: string
}

interface Bundle extends Omit<ShownRun, 'spans' | 'answer'> {
  readonly spans: readonly BundledSpan[]
}
type BundledSpan = Pick<SpanView, 'id' | 'owner' | 'attributes' | 'start_ns' | 'end_ns' | 'events'>

/** Reads a run: its records, and the rows of its tree, which have figures and fold what several writers told of one call. */
export const readShown = async (ask: AskStream, typed: string | undefined): Promise<ShownRun> => {
  const path = await runPath(ask, typed)
  const answer = await text(await ask('GET', path))
  const bundle = readJson(answer) as Bundle
  const known = new Map(bundle.spans.map((span) => [span.id, span]))
  const above: string[] = []
  const spans: SpanView[] = []
  for await (const row of rowsOf(ask, path)) {
    const span = known.get(row.id)
    // the run may have grown since
    if (span === undefined) continue
    above[row.depth] = row.id
    spans.push({ ...span, ...row, parent_id: row.depth === 0 ? null : (above[row.depth - 1] ?? null) })
  }
  return { run: bundle.run, spans, events: bundle.events, answer }
}

type ShownRow = Omit<SpanView, keyof Omit<BundledSpan, 'id'> | 'parent_id'> & { readonly depth: number }

async function* rowsOf(ask: AskStream, path: string): AsyncGenerator<ShownRow> {
  for (let after: number | null = 0; after !== null; ) {
    const page = readJson(await text(await ask('GET', `${path}/rows?after=${after}`))) as RowsPage
    const at = new Map<string, number>(page.columns.map((name, index) => [name, index]))
    for (const row of page.rows) {
      const of = <T>(name: RowsPage['columns'][number]): T => row[at.get(name) ?? -1] as T
      yield {
        id: of('id'),
        depth: of('depth'),
        name: of('name'),
        label: of('label'),
        kind: of('kind'),
        status: of('status'),
        tokens: of('tokens'),
        cost_micro: of('cost_micro'),
        error: of('error'),
        also_seen: of('also_seen'),
      }
    }
    after = page.next
  }
}
