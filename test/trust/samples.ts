import { dialects, type Step } from '../kit/dialogue.ts'
import { resourceSpans, span } from '../kit/otlp-data.ts'

/** A request that is taken as it stands. */
export interface Sample {
  readonly method: 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  readonly type: string
  readonly body: Buffer
}

const sample = (method: Sample['method'], path: string, body: unknown, type = 'application/json'): Sample => ({
  method,
  path,
  type,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
})

const trace = {
  trace_id: 'fuzz-trace',
  project_id: 'fuzz',
  status: 'ok',
  attributes: { branch: 'main', api_key: 'hunter2' },
  spans: [
    {
      id: 'a',
      name: 'tool.call',
      start_ns: '1790000000000000001',
      end_ns: '1790000000000000100',
      spans: [{ id: 'b', parent_id: 'a', name: 'command.exec', status: 'error' }],
      events: [{ id: 'e', name: 'tool.result', attributes: { bytes: 3 } }],
    },
  ],
  events: [{ name: 'file.change', span_id: 'b', time_ns: '1790000000000000002' }],
  artifacts: [{ path: 'a.txt', size: 3, sha256: 'ab'.repeat(32) }],
}

const bundle = {
  schema: 'trace.v1',
  run: { trace_id: 'fuzz-import', project_id: 'fuzz', status: 'ok', failure_tag: null, attributes: {} },
  spans: [{ id: 'r', parent_id: null, name: 'agent.run', events: [{ name: 'note' }] }],
  events: [],
  artifacts: [{ path: 'a.txt' }],
}

const lines = [
  { type: 'run', schema: 'trace.v1', trace_id: 'fuzz-lines', status: 'ok' },
  { type: 'span', trace_id: 'fuzz-lines', id: 's', name: 'tool.call' },
  { type: 'event', trace_id: 'fuzz-lines', span_id: 's', name: 'tool.result' },
]
  .map((line) => JSON.stringify(line))
  .join('\n')

const asked: readonly Step[] = [
  { user: 'hello' },
  { tool: 'read_file', args: { path: 'a.ts' }, result: 'text' },
  { user: 'go on' },
]

/** One good request of every route that takes a body. */
export const samples: readonly Sample[] = [
  ...dialects.flatMap(({ path, body }) => [
    sample('POST', path, body(asked)),
    sample('POST', path, body([{ user: 'hello' }], { stream: true })),
  ]),
  sample('POST', '/v1/messages/count_tokens', { model: 'm-1', messages: [{ role: 'user', content: 'hi' }] }),
  sample('POST', '/api/v1/traces', trace),
  sample('POST', '/api/v1/spans', { trace_id: 'fuzz-trace', id: 'c', parent_id: 'a', name: 'tool.call' }),
  sample('POST', '/api/v1/events/batch', {
    trace_id: 'fuzz-trace',
    events: [{ name: 'x' }, { name: 'y', span_id: 'a' }],
  }),
  sample('POST', '/api/v1/runs/import', bundle),
  sample('POST', '/api/v1/runs/import', lines, 'application/x-ndjson'),
  sample('POST', '/api/v1/runs/import', resourceSpans([span()])),
  sample('POST', '/api/v1/runs/fuzz-trace/pin', { pinned: true }),
  sample('PATCH', '/api/v1/runs/fuzz-trace', { name: 'first', tags: ['a', 'b'], failure_tag: 'loop' }),
  sample('POST', '/api/v1/compare', { left: 'fuzz-trace', right: 'fuzz-trace', align: 'label' }),
  sample('POST', '/v1/traces', resourceSpans([span()])),
  sample('PUT', '/api/policies/fuzz', {
    mode: 'shadow',
    rules: [{ rule_type: 'exact_repeat', threshold: 3, window_size: 8, action: 'block', enabled: true }],
  }),
  sample('POST', '/api/agents', { id: 'fuzz-agent', name: 'Fuzz', project_id: 'fuzz', metadata: { a: [1] } }),
  sample('PATCH', '/api/sessions/fuzz', { name: 'Fuzz', metadata: { ticket: 'T-1' } }),
  sample('POST', '/api/sessions/fuzz/resume', {}),
]
