import {
  type Found,
  type Gateway,
  type Query,
  type TableName,
  type Tables,
  type Where,
  writeJson,
} from 'guard-gateway/core'
import { type ApprovalRow, type Approvals, shownAs } from '../approvals/index.ts'
import type { EventFilters } from './queries.ts'
import { eventWhere } from './queries.ts'
import type { ServersView } from './server-schemas.ts'
import { approvalView, eventView } from './views.ts'

const PAGE_ROWS = 500

/** What an export is taken from. */
export interface ExportParts {
  readonly gateway: Gateway
  readonly approvals: Approvals
  servers(): Promise<ServersView>
}

/** One record of the bundle: the list that it stands in, and itself. */
type Entry = readonly [list: 'policies' | 'servers' | 'approvals' | 'events', record: object]

const lists = ['policies', 'servers', 'approvals', 'events'] as const
/** What a record is called on a line of its own. */
const kinds = { policies: 'policy', servers: 'server', approvals: 'approval', events: 'event' } as const

/** The audit bundle as the text of one JSON object, piece by piece. */
export async function* bundleJson(parts: ExportParts, filters: EventFilters): AsyncGenerator<string> {
  const head = writeJson(headOf(parts.gateway)).slice(0, -1)
  let open: Entry[0] | undefined
  let text = head
  const close = (upTo: number): string => {
    let closing = open === undefined ? '' : ']'
    const from = open === undefined ? 0 : lists.indexOf(open) + 1
    for (const list of lists.slice(from, upTo)) closing += `,"${list}":[]`
    return closing
  }
  for await (const page of entries(parts, filters)) {
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

/** The audit bundle as lines, one record each; the first says what it is. */
export async function* bundleLines(parts: ExportParts, filters: EventFilters): AsyncGenerator<string> {
  yield `${writeJson({ type: 'bundle', ...headOf(parts.gateway) })}\n`
  for await (const page of entries(parts, filters)) {
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

async function* entries(parts: ExportParts, filters: EventFilters): AsyncGenerator<readonly Entry[]> {
  const { gateway, approvals } = parts
  const { server_id } = filters
  for await (const rows of pages(gateway, 'mcp_policies', {}))
    yield rows.map(({ version, text, loaded_at }): Entry => ['policies', { version, text, loaded_at: iso(loaded_at) }])
  const { servers } = await parts.servers()
  yield servers.filter(({ id }) => server_id === undefined || id === server_id).map((one): Entry => ['servers', one])
  const now = gateway.clock.now()
  for await (const rows of pages(gateway, 'mcp_approvals', approvalWhere(filters, now)))
    yield rows.map((row): Entry => ['approvals', withoutPreviews(shownAs(approvals, row))])
  for await (const rows of pages(gateway, 'mcp_audit', eventWhere(filters, now)))
    yield rows.map((row): Entry => ['events', eventView(row)])
}

const iso = (at: number): string => new Date(at).toISOString()

const approvalWhere = (filters: EventFilters, now: number): Where<ApprovalRow> => {
  const { server_id, session_id, tool } = filters
  const { at } = eventWhere(filters, now)
  return {
    ...(server_id === undefined ? {} : { server_id }),
    ...(session_id === undefined ? {} : { session_id }),
    ...(tool === undefined ? {} : { tool }),
    ...(at === undefined ? {} : { created_at: at }),
  }
}

const withoutPreviews = (row: ApprovalRow): object => {
  const { preview: _preview, sent_preview: _sent, ...view } = approvalView(row)
  return view
}

async function* pages<N extends TableName>(
  { storage }: Gateway,
  table: N,
  where: Where<Tables[N]>,
): AsyncGenerator<readonly Tables[N][]> {
  let cursor: string | null = null
  do {
    const query: Query<Tables[N]> = { where, order: ['recorded', 'asc'], limit: PAGE_ROWS }
    const found: Found<Tables[N]> = await storage.find(table, cursor === null ? query : { ...query, cursor })
    yield found.rows
    cursor = found.next_cursor
  } while (cursor !== null)
}
