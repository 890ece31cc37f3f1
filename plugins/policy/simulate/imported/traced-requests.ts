import { type Attributes, noUsage, type SpanDraft, totalled, type Usage } from 'guard-gateway/core'
import type { ImportReading, RebuiltRequest } from 'guard-gateway/lib/export-format'

const NS_PER_MS = 1_000_000n

/** The model requests that a trace file tells of, oldest first; without conversations, since traces have none. */
export const tracedRequests = (reading: ImportReading): readonly RebuiltRequest[] => {
  const requests: RebuiltRequest[] = []
  for (const one of reading.records()) {
    const run = reading.runs[one.run]?.run
    if (one.kind !== 'span' || run === undefined || !isRequest(one.record)) continue
    requests.push(requestOf(one.record, run.session_id ?? run.trace_id, run.agent_name ?? ''))
  }
  return requests.sort((a, b) => a.at - b.at)
}

const isRequest = ({ kind, name, attributes = {} }: SpanDraft): boolean =>
  kind === 'model' || name === 'gen_ai.request' || MODEL_OPERATIONS.has(attributes['gen_ai.operation.name'])

const MODEL_OPERATIONS: ReadonlySet<unknown> = new Set(['chat', 'generate_content', 'text_completion'])

const requestOf = (span: SpanDraft, session_id: string, agent: string): RebuiltRequest => {
  const { id, start_ns = 0n, end_ns, status, attributes = {} } = span
  const model = textOf(attributes['gen_ai.request.model']) ?? textOf(attributes['gen_ai.response.model']) ?? 'unknown'
  const failed = status !== undefined && status !== 'ok' && status !== 'running'
  const code = attributes['http.response.status_code']
  return {
    session_id,
    agent,
    style: 'chat_completions',
    // one of its own, so that no request seems to repeat another
    body: Buffer.from(JSON.stringify({ model, messages: [{ role: 'user', content: id }] })),
    at: Number(start_ns / NS_PER_MS),
    ended_at: Number((end_ns ?? start_ns) / NS_PER_MS),
    model,
    usage: usageOf(attributes),
    cost: undefined,
    response_id: null,
    calls: [],
    text: '',
    wordless: false,
    error: failed
      ? { type: textOf(attributes['error.type']) ?? status, status: typeof code === 'number' ? code : undefined }
      : undefined,
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const usageOf = (attributes: Attributes): Usage | undefined => {
  const count = (name: string): number => {
    const value = Number(attributes[`gen_ai.usage.${name}`] ?? 0)
    return Number.isSafeInteger(value) ? Math.max(0, value) : 0
  }
  const all = count('input_tokens')
  const output_tokens = count('output_tokens')
  if (all + output_tokens === 0) return undefined
  const cache_read_tokens = count('cache_read.input_tokens')
  const cache_write_tokens = count('cache_creation.input_tokens')
  const input_tokens = Math.max(0, all - cache_read_tokens - cache_write_tokens)
  return totalled({ ...noUsage, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens })
}
