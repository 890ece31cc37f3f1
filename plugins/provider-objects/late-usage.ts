import {
  type Call,
  createTap,
  type Gateway,
  headerOf,
  isEventStream,
  type ProxyRequest,
  type Reading,
  type Reply,
  settleLate,
  totalled,
  type Usage,
} from 'guard-gateway/core'
import type { CallRecord } from '#lib/trace'
import { type ResponseRecords, recordsOf } from './owners.ts'

const STYLE = 'responses'
const EMPTY_BODY = Buffer.from('{}')
const NO_BYTES = Buffer.alloc(0)

/** Reads a reply that is a response on record, and records what it used if no earlier reply told that. */
export const usageTap = (gateway: Gateway, request: ProxyRequest, id: string, alone: Alone) => (reply: Reply) => {
  const failed = (error: unknown): void => gateway.fault(error, `meter:${STYLE}`)
  const stream = isEventStream(reply, /[?&]stream=true(?:&|$)/.test(request.query))
  const meter = gateway.apiStyles.need(STYLE).meter({ status: reply.status, stream })
  const tap = createTap(meter, headerOf(reply.headers, 'content-encoding'), failed)
  return {
    push: (chunk: Uint8Array) => tap.push(chunk),
    end: async (): Promise<void> => {
      const reading = await tap.end()
      if (reading.usage !== null && reading.complete && reading.response_id === id)
        await alone(id, () => recordUsage(gateway, request, reply, reading, id))
    },
  }
}

/** Runs work while no other work on the same response runs. */
export type Alone = (id: string, work: () => Promise<void>) => Promise<void>

const recordUsage = async (
  gateway: Gateway,
  request: ProxyRequest,
  reply: Reply,
  reading: Reading,
  id: string,
): Promise<void> => {
  const stored = await recordsOf(gateway, id)
  if (stored === undefined || stored.records.some(({ usage_source }) => usage_source === 'reported')) return
  const usage = beyond(reading.usage, stored.records)
  await settleLate(gateway, retrievalOf(gateway, request, reply, stored), reply, { ...reading, usage })
}

/** Usage without what is counted already: an estimate, or the part that a broken stream told. */
const beyond = (usage: Usage | null, records: readonly CallRecord[]): Usage => {
  const less = (name: keyof Usage): number =>
    records.reduce((left, record) => left - record[name], usage === null ? 0 : usage[name])
  return totalled({
    input_tokens: less('input_tokens'),
    cache_read_tokens: less('cache_read_tokens'),
    cache_write_tokens: less('cache_write_tokens'),
    cache_write_5m_tokens: less('cache_write_5m_tokens'),
    cache_write_1h_tokens: less('cache_write_1h_tokens'),
    output_tokens: less('output_tokens'),
    reasoning_tokens: less('reasoning_tokens'),
  })
}

/** The retrieval as a call of the session, project and agent that made the response. */
const retrievalOf = (gateway: Gateway, request: ProxyRequest, reply: Reply, { id, made }: ResponseRecords): Call => {
  const { envelope, conversation } = gateway
    .service('requests')
    .need()
    .reader.read(gateway.apiStyles.need(STYLE), EMPTY_BODY, '')
  return {
    id: request.id,
    at: gateway.clock.now(),
    tick: gateway.clock.tick(),
    style: STYLE,
    path: made.path,
    query: '',
    headers: { 'x-guard-project-id': made.project_id },
    raw_headers: [],
    client: made.client,
    identity: { agent_id: made.agent_id, key_id: null },
    body: NO_BYTES,
    envelope: { ...envelope, model: made.model_requested, previous_response_id: id },
    conversation,
    uncounted: 'retrieval',
    retry_mark: false,
    mode_override: null,
    project_id: made.project_id,
    agent_id: made.agent_id,
    mode: made.mode,
    upstream: reply.upstream,
    session: null,
    notes: { retrieves: made.id },
  }
}
