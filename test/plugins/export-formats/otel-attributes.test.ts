import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { attributesOf, secondOf, written } from '../../kit/otlp.ts'
import { anArtifact, anEvent, aSpan, aTrace, START, traces } from '../../kit/traces.ts'

describe('otel export: attributes', () => {
  it('describes the resource by agent, project and resource attributes of the run', () => {
    const attributes = { 'resource.host.name': 'h', 'resource.service.name': 'other', own: 1 }
    const { resource } = written(aTrace({}, { agent_name: 'coder', project_id: 'p', attributes }))
    assert.deepEqual(resource.attributes, [
      { key: 'service.name', value: { stringValue: 'coder' } },
      { key: 'guard.project.id', value: { stringValue: 'p' } },
      { key: 'host.name', value: { stringValue: 'h' } },
    ])
    assert.deepEqual(attributesOf(written(aTrace()).resource)['service.name'], { stringValue: 'guard-gateway' })
  })

  it('names the scope after the generator of the file', () => {
    assert.deepEqual(written(aTrace()).scope, { name: 'guard-gateway' })
    const generator = { name: 'g', version: '2' }
    assert.deepEqual(written(aTrace(), { generator }).scope, generator)
  })

  it('gives every span its id, kind, status and operation beside its attributes', () => {
    const attributes = attributesOf(secondOf({ kind: 'tool', attributes: { own: 'x' } }))
    assert.deepEqual(attributes['guard.span.id'], { stringValue: 'a' })
    assert.deepEqual(attributes['guard.span.kind'], { stringValue: 'tool' })
    assert.deepEqual(attributes['guard.status'], { stringValue: 'ok' })
    assert.deepEqual(attributes['gen_ai.operation.name'], { stringValue: 'execute_tool' })
    assert.deepEqual(attributes.own, { stringValue: 'x' })
    assert.ok(!('guard.trace.id' in attributes))
  })

  it('prefers the operation of the span', () => {
    const own = { 'gen_ai.operation.name': 'text_completion' }
    assert.deepEqual(attributesOf(secondOf({ kind: 'model', attributes: own }))['gen_ai.operation.name'], {
      stringValue: 'text_completion',
    })
  })

  it('describes the run on the root span', () => {
    const root = written(
      aTrace(
        {},
        {
          status: 'error',
          failure_tag: 'loop',
          failure_tag_source: 'derived',
          task_id: 'task',
          tags: ['a', 'b'],
          origin: 'mcp',
          cost_micro: 9_007_199_254_740_993n,
          session_id: 'ses_1',
          agent_id: 'agt_1',
          agent_name: 'coder',
          attributes: { own: true },
        },
      ),
    ).spans[0]
    const expected = {
      'guard.trace.id': { stringValue: 'trace-1' },
      'guard.run.status': { stringValue: 'error' },
      'guard.failure_tag': { stringValue: 'loop' },
      'guard.failure_tag.source': { stringValue: 'derived' },
      'guard.task.id': { stringValue: 'task' },
      'guard.tags': { arrayValue: { values: [{ stringValue: 'a' }, { stringValue: 'b' }] } },
      'guard.origin': { stringValue: 'mcp' },
      'guard.cost_micro': { intValue: '9007199254740993' },
      'session.id': { stringValue: 'ses_1' },
      'gen_ai.conversation.id': { stringValue: 'ses_1' },
      'gen_ai.agent.id': { stringValue: 'agt_1' },
      'gen_ai.agent.name': { stringValue: 'coder' },
      'guard.run.attr.own': { boolValue: true },
    }
    const attributes = attributesOf(root)
    for (const [key, value] of Object.entries(expected)) assert.deepEqual(attributes[key], value, key)
  })

  it('writes every type of value', () => {
    const attributes = {
      s: 'x',
      b: false,
      i: 1,
      big: 2n ** 63n - 1n,
      more: 2n ** 63n,
      d: 1.5,
      a: [1, 'x'],
      o: { k: null },
      n: null,
    }
    const values = attributesOf(secondOf({ kind: 'other', attributes }))
    const { 'guard.span.id': _, 'guard.span.kind': __, 'guard.status': ___, ...own } = values
    assert.deepEqual(own, {
      s: { stringValue: 'x' },
      b: { boolValue: false },
      i: { intValue: '1' },
      big: { intValue: '9223372036854775807' },
      more: { doubleValue: 2 ** 63 },
      d: { doubleValue: 1.5 },
      a: { arrayValue: { values: [{ intValue: '1' }, { stringValue: 'x' }] } },
      o: { kvlistValue: { values: [{ key: 'k', value: {} }] } },
      n: {},
    })
  })

  it('has no duplicate keys, no kind 0 and no non-finite numbers', () => {
    fc.assert(
      fc.property(traces, (trace) => {
        const { resource, spans } = written(trace)
        for (const { attributes } of [resource, ...spans, ...spans.flatMap(({ events }) => events)]) {
          const keys = attributes.map(({ key }) => key)
          assert.equal(new Set(keys).size, keys.length, keys.join())
        }
        for (const { kind, traceId, spanId } of spans) {
          assert.ok(kind === 1 || kind === 3)
          assert.match(traceId, /^(?!0+$)[0-9a-f]{32}$/)
          assert.match(spanId, /^(?!0+$)[0-9a-f]{16}$/)
        }
      }),
      { seed: 41, numRuns: 100 },
    )
    assert.deepEqual(attributesOf(secondOf({ attributes: { x: Number.POSITIVE_INFINITY } })).x, {
      stringValue: 'Infinity',
    })
  })
})

describe('otel export: events and artifacts', () => {
  it('writes time, name, attributes and id of an event on its span', () => {
    const event = anEvent({ span_id: 'a', severity: 'error', request_id: 'guardreq_1', attributes: { path: 'x' } })
    const [, span] = written(aTrace({ spans: [aSpan({ id: 'a' })], events: [event] })).spans
    assert.equal(span?.events[0]?.timeUnixNano, String(START + 5n))
    assert.equal(span?.events[0]?.name, 'file.change')
    assert.deepEqual(attributesOf(span?.events[0]), {
      'guard.event.id': { stringValue: 'evt_1' },
      'guard.event.severity': { stringValue: 'error' },
      'guard.event.request_id': { stringValue: 'guardreq_1' },
      path: { stringValue: 'x' },
    })
  })

  it('writes events of the run on the root span, with a marker', () => {
    const [root] = written(aTrace({ events: [anEvent()] })).spans
    assert.deepEqual(attributesOf(root.events[0])['guard.event.level'], { stringValue: 'run' })
  })

  it('writes artifacts as events of their span or the root span', () => {
    const artifacts = [
      anArtifact({ span_id: 'a' }),
      anArtifact({ id: 'art_2', attributes: { own: 1 } }),
      anArtifact({ id: 'art_3', span_id: 'never came' }),
    ]
    const [root, span] = written(aTrace({ spans: [aSpan({ id: 'a' })], artifacts })).spans
    assert.equal(span?.events[0]?.name, 'guard.artifact')
    assert.deepEqual(attributesOf(span?.events[0]), {
      'guard.artifact.id': { stringValue: 'art_1' },
      path: { stringValue: 'out/report.md' },
      mime_type: { stringValue: 'text/markdown' },
      size: { intValue: '12' },
      sha256: { stringValue: 'ab'.repeat(32) },
    })
    assert.deepEqual(attributesOf(root.events[1])['guard.artifact.span_id'], { stringValue: 'never came' })
    for (const event of root.events) assert.deepEqual(attributesOf(event)['guard.event.level'], { stringValue: 'run' })
    assert.deepEqual(attributesOf(root.events[0])['guard.artifact.attr.own'], { intValue: '1' })
  })
})
