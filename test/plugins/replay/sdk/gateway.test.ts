import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { createGuard, type Guard, type GuardOptions, type Trace } from 'guard-gateway/sdk'
import OpenAI from 'openai'
import { readJson } from '#lib/json'
import type { ReceivedRequest } from '../../../kit/provider.ts'
import { chatReply } from '../../../kit/replies.ts'
import { type Service, startService } from '../../../kit/service.ts'

interface StoredSpan {
  readonly id: string
  readonly parent_id: string | null
  readonly name: string
  readonly owner: string
  readonly status: string
  readonly start_ns: bigint
  readonly end_ns: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  readonly events: readonly { readonly name: string; readonly attributes: object }[]
}
interface StoredTrace {
  readonly run: {
    readonly status: string
    readonly tags: readonly string[]
    readonly task_id: string
    readonly agent_name: string
    readonly input_tokens: number
    readonly output_tokens: number
  }
  readonly spans: readonly StoredSpan[]
  readonly artifacts: readonly { readonly path: string; readonly size: number }[]
}

let service: Service
before(async () => {
  service = await startService()
})
after(() => service[Symbol.asyncDispose]())

const guardFor = (test: TestContext, options: GuardOptions = {}): Guard => {
  const guard = createGuard({
    baseUrl: service.gateway.url,
    project: 'demo',
    agent: 'coder',
    handleExit: false,
    ingestTimeoutMs: 60_000,
    ...options,
  })
  test.after(() => guard.close())
  return guard
}

/** A stored run with exact times. */
const stored = async (trace_id: string): Promise<StoredTrace> => {
  const { status, text } = await service.request('GET', `/api/v1/runs/${trace_id}`)
  assert.equal(status, 200, text)
  return readJson(text) as StoredTrace
}

const spanOf = ({ spans }: StoredTrace, name: string): StoredSpan => {
  const found = spans.filter((span) => span.name === name)
  assert.equal(found.length, 1, name)
  return found[0] as StoredSpan
}

/** Records the example of the documentation with `reads` tool calls. Returns the trace id. */
const record = async (guard: Guard, reads: number): Promise<string> => {
  let id = ''
  await guard.trace('fix-bug', { taskId: 'T-1', sessionId: 'night-run' }, async (trace: Trace) => {
    id = trace.traceId
    for (let read = 0; read < reads; read++) {
      await guard.span('tool.call', { 'gen_ai.tool.name': 'read_file' }, async (span) => {
        span.event('tool.result', { bytes: 5 })
        span.set({ 'file.lines': 12 })
      })
      if (read % 400 === 399) await guard.flush()
    }
    trace.artifact({ path: 'out/report.md', mimeType: 'text/markdown', size: 812, sha256: 'a'.repeat(64) })
    trace.tag('nightly')
  })
  await guard.flush()
  assert.deepEqual({ ...guard.stats(), sent: 0 }, { queued: 0, sent: 0, dropped: 0, failed: 0, unknown: 0 })
  return id
}

describe('a trace to a real gateway', () => {
  it('is one run with its nesting, event, artifact and tag', async (test) => {
    const run = await stored(await record(guardFor(test), 1))
    assert.equal(run.run.status, 'ok')
    assert.deepEqual([run.run.task_id, run.run.agent_name, run.run.tags], ['T-1', 'coder', ['nightly']])
    assert.deepEqual(
      run.artifacts.map(({ path, size }) => ({ path, size })),
      [{ path: 'out/report.md', size: 812 }],
    )
    const tool = spanOf(run, 'tool.call')
    assert.equal(tool.parent_id, spanOf(run, 'agent.run').id)
    assert.deepEqual(tool.attributes, { 'gen_ai.tool.name': 'read_file', 'file.lines': 12 })
    assert.deepEqual(
      tool.events.map(({ name, attributes }) => ({ name, attributes })),
      [{ name: 'tool.result', attributes: { bytes: 5 } }],
    )
  })

  for (const reads of [1, 2_000])
    it(`with ${reads} spans is equal, whether sent at once or live`, async (test) => {
      const left = await record(guardFor(test), reads)
      const right = await record(guardFor(test, { live: true }), reads)
      const { status, json, text } = await service.request('POST', '/api/v1/compare', { left, right })
      assert.equal(status, 200, text)
      const { deltas, summary, events_by_name, status_changed } = json as {
        deltas: Record<string, number>
        summary: unknown
        events_by_name: unknown
        status_changed: boolean
      }
      assert.deepEqual(summary, {
        ...{ both: reads + 1, left_only: 0, right_only: 0 },
        status_changed: 0,
        label_changed: 0,
        arguments_changed: 0,
      })
      assert.deepEqual([deltas.span_count, deltas.event_count, status_changed], [0, 0, false])
      assert.deepEqual(events_by_name, [{ name: 'tool.result', left: reads, right: reads, delta: 0 }])
    })

  it('is stored with its exception when the caller catches the error', async (test) => {
    const guard = guardFor(test)
    const error = new Error('too bad')
    let id = ''
    let caught: unknown
    try {
      await guard.trace('failing', (trace) => {
        id = trace.traceId
        return guard.span('step', () => Promise.reject(error))
      })
    } catch (thrown) {
      caught = thrown
      const run = await stored(id)
      assert.equal(run.run.status, 'error')
      assert.deepEqual(
        run.spans.flatMap(({ name, events }) => events.map((event) => `${name}: ${event.name}`)),
        ['step: exception'],
      )
    }
    assert.equal(caught, error)
  })

  it('keeps its nanoseconds exactly', async (test) => {
    const guard = guardFor(test)
    let tick = 9_007_199_254_740_993n
    const now = test.mock.method(Date, 'now', () => 1_790_000_000_123)
    const hrtime = test.mock.method(process.hrtime, 'bigint', () => tick++)
    let id = ''
    const open = guard.trace('exact', (trace) => {
      id = trace.traceId
      guard.span('step', () => {})
    })
    await open
    now.mock.restore()
    hrtime.mock.restore()
    await guard.flush()
    const run = await stored(id)
    const step = spanOf(run, 'step')
    assert.deepEqual([step.start_ns, step.end_ns], [1_790_000_000_123_000_002n, 1_790_000_000_123_000_003n])
    assert.deepEqual(
      [spanOf(run, 'agent.run').start_ns, spanOf(run, 'agent.run').end_ns],
      [1_790_000_000_123_000_001n, 1_790_000_000_123_000_004n],
    )
  })
})

describe('guard.fetch in a real client', () => {
  const messages = [{ role: 'user' as const, content: 'hi' }]
  const usage = (input: number | undefined, output: number | undefined) => ({
    'gen_ai.usage.input_tokens': input,
    'gen_ai.usage.output_tokens': output,
  })
  const openai = (guard: Guard) =>
    new OpenAI({ apiKey: service.gateway.key, baseURL: `${service.gateway.url}/v1`, fetch: guard.fetch })
  const anthropic = (guard: Guard) =>
    new Anthropic({ apiKey: service.gateway.key, baseURL: service.gateway.url, fetch: guard.fetch })

  const ways: Record<string, (guard: Guard) => Promise<ReturnType<typeof usage>>> = {
    'openai, whole': async (guard) => {
      const reply = await openai(guard).chat.completions.create({ model: 'm-1', messages })
      return usage(reply.usage?.prompt_tokens, reply.usage?.completion_tokens)
    },
    'openai, streaming': async (guard) => {
      service.provider.script({ body: chatReply(true, 'Hello there.', true).body })
      const options = { include_usage: true }
      const stream = await openai(guard).chat.completions.create({
        model: 'm-1',
        messages,
        stream: true,
        stream_options: options,
      })
      let seen = usage(undefined, undefined)
      for await (const chunk of stream) {
        if (chunk.usage) seen = usage(chunk.usage.prompt_tokens, chunk.usage.completion_tokens)
      }
      return seen
    },
    'anthropic, whole': async (guard) => {
      const reply = await anthropic(guard).messages.create({ model: 'm-1', max_tokens: 9, messages })
      return usage(reply.usage.input_tokens, reply.usage.output_tokens)
    },
    'anthropic, streaming': async (guard) => {
      const stream = anthropic(guard).messages.stream({ model: 'm-1', max_tokens: 9, messages })
      const { usage: seen } = await stream.finalMessage()
      return usage(seen.input_tokens, seen.output_tokens)
    },
  }

  for (const [way, ask] of Object.entries(ways))
    it(`(${way}) puts the gateway's span below the current one, and tokens count once`, async (test) => {
      const guard = guardFor(test)
      const id = await guard.trace(way, async (trace) => {
        await guard.span('gen_ai.chat', async (span) => span.set(await ask(guard)))
        return trace.traceId
      })
      await guard.flush()
      const run = await stored(id)
      const chat = spanOf(run, 'gen_ai.chat')
      const proxied = spanOf(run, 'gen_ai.request')
      assert.equal(proxied.parent_id, chat.id)
      assert.equal(proxied.owner, 'gateway')
      const tokens = [run.run.input_tokens, run.run.output_tokens]
      assert.ok(tokens.every((count) => count > 0))
      assert.deepEqual(tokens, [
        proxied.attributes['gen_ai.usage.input_tokens'],
        proxied.attributes['gen_ai.usage.output_tokens'],
      ])
      assert.equal(chat.attributes['gen_ai.usage.input_tokens'], tokens[0])
      assert.equal(chat.attributes['sdk.linked_trace'], undefined)
    })

  it('sends no guard header to another origin', async (test) => {
    const guard = guardFor(test)
    const elsewhere = new OpenAI({ apiKey: 'theirs', baseURL: `${service.provider.url}/v1`, fetch: guard.fetch })
    const request: Promise<ReceivedRequest> = service.provider.next()
    await guard.trace('elsewhere', () => elsewhere.chat.completions.create({ model: 'm-1', messages }))
    const names = (await request).headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
    assert.deepEqual(
      names.filter((name) => name.startsWith('x-guard') || name === 'traceparent'),
      [],
    )
  })
})
