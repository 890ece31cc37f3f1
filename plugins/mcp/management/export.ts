import type { Gateway, Where } from 'guard-gateway/core'
import { writeJson } from '#lib/json'
import { pages } from '#lib/paging'
import { type ApprovalRow, type Approvals, currentState } from '../approvals/index.ts'
import type { AuditRow } from '../audit/tables.ts'
import { type EventFilters, eventWhere } from './queries.ts'
import type { ServersView } from './server-schemas.ts'
import { approvalView, eventView } from './views.ts'

/** What an export is taken from. */
export interface ExportParts {
  readonly gateway: Gateway
  readonly approvals: Approvals
  servers(): Promise<ServersView>
}

/** One record of the bundle: the list that it is in, and itself. */
type Entry = readonly [list: 'policies' | 'servers' | 'approvals' | 'events', record: object]

const lists = ['policies', 'servers', 'approvals', 'events'] as const
/** What a record is called on a line of its own. */
const kinds = { policies: 'policy', servers: 'server', approvals: 'approval', events: 'event' } as const

/** The audit bundle as the text of one JSON object, piece by piece. Throws INVALID_FILTER before the first. */
export const bundleJson = (parts: ExportParts, filters: EventFilters): AsyncGenerator<string> =>
  jsonOf(headOf(parts.gateway), entries(parts, filters))

async function* jsonOf(about: object, found: AsyncIterable<readonly Entry[]>): AsyncGenerator<string> {
  const head = writeJson(about).slice(0, -1)
  let open: Entry[0] | undefined
  let text = head
  const close = (upTo: number): string => {
    let closing = open === undefined ? '' : ']'
    const from = open === undefined ? 0 : lists.indexOf(open) + 1
    for (const list of lists.slice(from, upTo)) closing += `,"${list}":[]`
    return closing
  }
  for await (const page of found) {
    for (const [list, record] of page) {
      if (list !== open) {
        text += `${close(lists.indexOf(list))},"${list}":[`
        open = list
      } else text += ','
      text += `\n${writeJson(record)}`
    }
    yield text
    text = ''
  }
  yield `${text}${close(lists.length)}}\n`
}

/** The audit bundle as lines, one record each; the first says what it is. Throws INVALID_FILTER before the first. */
export const bundleLines = (parts: ExportParts, filters: EventFilters): AsyncGenerator<string> =>
  linesOf(headOf(parts.gateway), entries(parts, filters))

async function* linesOf(about: object, found: AsyncIterable<readonly Entry[]>): AsyncGenerator<string> {
  yield `${writeJson({ type: 'bundle', ...about })}\n`
  for await (const page of found) {
    let text = ''
    for (const [list, record] of page) text += `${writeJson({ type: kinds[list], ...record })}\n`
    yield text
  }
}

const headOf = ({ clock }: Gateway) => ({
  schema: 'mcp-audit.v1',
  exported_at: new Date(clock.now()).toISOString(),
  generator: { name: 'guard-gateway', version: '1' },
})

const entries = (parts: ExportParts, filters: EventFilters): AsyncGenerator<readonly Entry[]> =>
  entriesWhere(parts, filters, eventWhere(filters, parts.gateway.clock.now()))

async function* entriesWhere(
  parts: ExportParts,
  { server_id, session_id, tool }: EventFilters,
  events: Where<AuditRow>,
): AsyncGenerator<readonly Entry[]> {
  const { storage } = parts.gateway
  for await (const rows of pages(storage, 'mcp_policies', { order: ['recorded', 'asc'] }))
    yield rows.map(({ version, text, loaded_at }): Entry => ['policies', { version, text, loaded_at: iso(loaded_at) }])
  const { servers } = await parts.servers()
  yield servers.filter(({ id }) => server_id === undefined || id === server_id).map((one): Entry => ['servers', one])
  const { at } = events
  const filter: Where<ApprovalRow> = {
    ...(server_id === undefined ? {} : { server_id }),
    ...(session_id === undefined ? {} : { session_id }),
    ...(tool === undefined ? {} : { tool }),
    ...(at === undefined ? {} : { created_at: at }),
  }
  for await (const rows of pages(storage, 'mcp_approvals', { where: filter, order: ['recorded', 'asc'] }))
    yield rows.map((row): Entry => ['approvals', withoutPreviews(currentState(parts.approvals, row))])
  for await (const rows of pages(storage, 'mcp_audit', { where: events, order: ['recorded', 'asc'] }))
    yield rows.map((row): Entry => ['events', eventView(row)])
}

const iso = (at: number): string => new Date(at).toISOString()

const withoutPreviews = (row: ApprovalRow): object => {
  const { preview: _preview, sent_preview: _sent, message: _message, ...view } = approvalView(row)
  return view
}
