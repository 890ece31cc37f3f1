import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GuardError } from 'guard-gateway/core'
import { otel } from 'guard-gateway/plugins/export-formats/otel'
import { sha256 } from '#lib/ids'
import { exportFormatConforms } from '../../conformance/export-format.ts'
import { exported, readBy } from '../../kit/exchange.ts'
import { attributesOf, secondOf, withSpan, written } from '../../kit/otlp.ts'
import { aSpan, aTrace, START } from '../../kit/traces.ts'

exportFormatConforms(otel)

describe('otel export: ids', () => {
  it('retains valid ids', () => {
    const trace_id = '0af7651916cd43dd8448eb211c80319c'
    const trace = aTrace({ spans: [aSpan({ id: '00f067aa0ba902b7', parent_id: 'root' })] }, { trace_id })
    const [, span] = written(trace).spans
    assert.deepEqual([span?.traceId, span?.spanId], [trace_id, '00f067aa0ba902b7'])
  })

  it('hashes other ids deterministically', () => {
    const [root, span] = written(withSpan({})).spans
    assert.equal(root.traceId, sha256('guard.trace:trace-1').slice(0, 32))
    assert.equal(root.spanId, sha256('guard.span:trace-1\0root').slice(0, 16))
    assert.equal(span?.spanId, sha256('guard.span:trace-1\0a').slice(0, 16))
  })

  it('hashes upper-case and all-zero ids', () => {
    for (const trace_id of ['0'.repeat(32), '0AF7651916CD43DD8448EB211C80319C']) {
      assert.equal(written(aTrace({}, { trace_id })).spans[0].traceId, sha256(`guard.trace:${trace_id}`).slice(0, 32))
    }
  })

  it('names the parent by the same id, and none on the root', () => {
    const [root, span] = written(withSpan({ parent_id: 'root' })).spans
    assert.equal(span?.parentSpanId, root.spanId)
    assert.ok(!('parentSpanId' in root))
  })
})

describe('otel export: names, kinds, status, times', () => {
  it('uses native names unless semantic conventions are requested', () => {
    const model = { name: 'gen_ai.request', kind: 'model', attributes: { 'gen_ai.request.model': 'm-1' } } as const
    const tool = { name: 'tool.call', kind: 'tool', label: 'read_file' } as const
    assert.equal(secondOf(model)?.name, 'gen_ai.request')
    assert.equal(secondOf(model, { names: 'semconv' })?.name, 'chat m-1')
    assert.equal(secondOf(tool, { names: 'semconv' })?.name, 'execute_tool read_file')
    assert.equal(secondOf({ kind: 'command', name: 'command.exec' }, { names: 'semconv' })?.name, 'command.exec')
    assert.equal(written(aTrace({}, { agent_name: 'coder' }), { names: 'semconv' }).spans[0].name, 'invoke_agent coder')
    assert.equal(written(aTrace(), { names: 'semconv' }).spans[0].name, 'invoke_agent')
  })

  it('reads names of the semantic conventions as the same trace', () => {
    const trace = withSpan({ name: 'gen_ai.request', kind: 'model', model: 'm-1' })
    const native = readBy(otel, exported(otel, trace))
    assert.deepEqual(readBy(otel, exported(otel, trace, { names: 'semconv' })), native)
  })

  it('marks model and MCP calls as client spans, all others as internal', () => {
    assert.equal(secondOf({ kind: 'model' })?.kind, 3)
    assert.equal(secondOf({ kind: 'tool', owner: 'mcp' })?.kind, 3)
    assert.equal(secondOf({ kind: 'tool', attributes: { 'mcp.method.name': 'tools/call' } })?.kind, 3)
    for (const kind of ['tool', 'agent', 'command', 'policy', 'retrieval', 'other'] as const) {
      assert.equal(secondOf({ kind })?.kind, 1)
    }
  })

  it('maps status to 1, 2 with its message, or none', () => {
    assert.deepEqual(secondOf({ status: 'ok', status_message: 'm' })?.status, { code: 1 })
    for (const status of ['error', 'timeout', 'blocked', 'cancelled']) {
      assert.deepEqual(secondOf({ status, status_message: 'why' })?.status, { code: 2, message: 'why' })
    }
    assert.deepEqual(secondOf({ status: 'odd_one' })?.status, {})
  })

  it('ends a running span at its start, with a marker', () => {
    const span = secondOf({ status: 'running', end_ns: null })
    assert.deepEqual([span?.startTimeUnixNano, span?.endTimeUnixNano], [String(START), String(START)])
    assert.deepEqual(attributesOf(span)['guard.status'], { stringValue: 'running' })
    assert.equal(attributesOf(span)['guard.span.unended'], undefined)
  })

  it('marks an ended span without an end time', () => {
    const span = secondOf({ status: 'ok', end_ns: null })
    assert.deepEqual(attributesOf(span)['guard.span.unended'], { boolValue: true })
  })
})

describe('otel import', () => {
  const spanId = '00f067aa0ba902b7'
  const traceId = '0af7651916cd43dd8448eb211c80319c'
  const file = (...spans: object[]): string => JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }, null, 1)
  const refusal = (text: string): GuardError => {
    try {
      readBy(otel, text)
    } catch (error) {
      if (error instanceof GuardError) return error
      throw error
    }
    assert.fail('was not refused')
  }

  it('rejects a file with an invalid span, with its location', () => {
    const error = refusal(file({ traceId, spanId, name: 'n' }, { traceId: 'xyz', spanId, name: 'n' }))
    assert.equal(error.code, 'INVALID_ID')
    assert.equal(error.place.path, '/resourceSpans/0/scopeSpans/0/spans/1/traceId')
    assert.equal(error.place.line, 13)
  })

  it('rejects duplicate span ids, and a file without spans', () => {
    assert.equal(refusal(file({ traceId, spanId, name: 'n' }, { traceId, spanId, name: 'n' })).code, 'DUPLICATE_ID')
    assert.equal(refusal('{"resourceSpans":[]}').code, 'INVALID_IMPORT')
    assert.equal(refusal('{"resourceSpans":{}}').code, 'INVALID_IMPORT')
  })

  it('rejects two traces with one native id', () => {
    const claim = [
      { key: 'guard.span.id', value: { stringValue: 's' } },
      { key: 'guard.trace.id', value: { stringValue: 't' } },
    ]
    const other = { traceId: 'f'.repeat(32), spanId, name: 'n', attributes: claim }
    assert.equal(refusal(file({ traceId, spanId, name: 'n', attributes: claim }, other)).code, 'DUPLICATE_ID')
  })

  it('drops prompts and replies of other programs, with a note', () => {
    const attributes = [{ key: 'gen_ai.input.messages', value: { stringValue: 'secret plan' } }]
    const { runs, warnings } = readBy(otel, file({ traceId, spanId, name: 'n', attributes }))
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['content_dropped'],
    )
    assert.doesNotMatch(JSON.stringify(runs[0]?.spans), /secret/)
  })
})
