import type { Gateway } from 'guard-gateway/core'
import type { SearchHit, SearchSource } from 'guard-gateway/lib/page'
import type { CallRecord } from 'guard-gateway/lib/trace'

const REQUEST = 'guardreq_'
const EVENT = 'evt_'
const SPAN_ID = /^[0-9a-f]{16}$/
const MAX_HITS = 10

/** Finds recorded requests by the ids that the gateway and the provider gave them. */
export const requestSource = (gateway: Gateway): SearchSource => ({
  id: 'recorder/requests',
  order: 10,
  takes: 'ids of requests, their decisions, replies and spans',
  find: async (text) => {
    const request = await requestOf(gateway.storage, text)
    if (request !== undefined) return [requestHit(request)]
    if (text.startsWith(REQUEST) || text.startsWith(EVENT)) return []
    const where = SPAN_ID.test(text) ? { span_id: text } : { response_id: text }
    const { rows } = await gateway.storage.find('calls', { where, limit: MAX_HITS })
    return rows.map(requestHit)
  },
})

const requestOf = async (storage: Gateway['storage'], text: string): Promise<CallRecord | undefined> => {
  if (text.startsWith(REQUEST)) return storage.get('calls', text)
  if (text.startsWith(EVENT)) return storage.get('calls', REQUEST + text.slice(EVENT.length))
  return undefined
}

/** A request is shown by its span in Replay; one without a run by its session. */
const requestHit = ({ id, session_id, trace_id, span_id, model_requested, decision }: CallRecord): SearchHit => ({
  kind: 'request',
  title: id,
  url: spanPath(trace_id, span_id) ?? `/sessions/${encodeURIComponent(session_id ?? '')}#call-${id}`,
  note: `${model_requested}, ${decision ?? 'refused'}`,
})

const spanPath = (trace_id: string | null, span_id: string | null): string | undefined => {
  if (trace_id === null) return undefined
  const run = `/replay/${encodeURIComponent(trace_id)}`
  const span = span_id === null ? '' : encodeURIComponent(span_id)
  return span === '' ? run : `${run}?span=${span}#span-${span}`
}
