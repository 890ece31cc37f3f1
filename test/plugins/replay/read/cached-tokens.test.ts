import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RunSummary } from '#lib/trace-file'
import { startService } from '../../../kit/service.ts'

/** A run as JSON; its counts are small. */
type Counts = Readonly<Record<keyof RunSummary, unknown>>

const reply = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm-1',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 100, cache_read_input_tokens: 900, cache_creation_input_tokens: 50, output_tokens: 7 },
}

describe('input tokens', () => {
  it('are all input in runs and sessions, with the part from a cache beside them', async () => {
    await using service = await startService()
    const headers = { 'x-guard-session-id': 'cached' }
    const body = { model: 'm-1', max_tokens: 8, messages: [{ role: 'user', content: 'Hello' }] }
    for (let turn = 0; turn < 3; turn++) {
      service.provider.script({ body: JSON.stringify(reply) })
      await service.request('POST', '/v1/messages', { ...body, temperature: turn / 10 }, headers)
    }
    const { runs } = (await service.request('GET', '/api/v1/runs')).json as { readonly runs: readonly Counts[] }
    const [run] = runs
    assert.deepEqual([run?.input_tokens, run?.cached_input_tokens, run?.output_tokens], [3150, 2700, 21])
    const { sessions } = (await service.request('GET', '/api/sessions')).json as {
      readonly sessions: readonly Readonly<Record<string, unknown>>[]
    }
    const [session] = sessions
    assert.deepEqual(
      [session?.total_input_tokens, session?.cached_input_tokens, session?.input_tokens, session?.output_tokens],
      [3150, 2700, 300, 21],
    )
    const use = (await service.request('GET', `/api/v1/runs/${run?.trace_id}/use`)).json as {
      readonly uses: readonly Readonly<Record<string, unknown>>[]
    }
    assert.deepEqual([use.uses[0]?.input_tokens, use.uses[0]?.cached_input_tokens], [3150, 2700])
    const pages = await Promise.all(
      [`/replay/${run?.trace_id}`, `/sessions/${session?.id}`].map((path) => service.request('GET', path)),
    )
    for (const { text } of pages) assert.match(text.replaceAll(/<[^>]*>/g, ''), /3\.1k in \(2\.7k cached\), 21 out/)
  })

  it('of programs count once, and no more come from a cache than there are', async () => {
    await using service = await startService()
    const model = (id: string, cached: number, more: object = {}) => ({
      id,
      name: 'chat',
      kind: 'model',
      attributes: { 'gen_ai.usage.input_tokens': 100, 'gen_ai.usage.cache_read.input_tokens': cached },
      ...more,
    })
    const spans = [model('outer', 40), model('inner', 40, { parent_id: 'outer' }), model('liar', 5_000)]
    const { json } = await service.request('POST', '/api/v1/traces', { trace_id: 'told', spans })
    const { run } = json as { readonly run: Counts }
    assert.deepEqual([run.input_tokens, run.cached_input_tokens], [200, 140])
  })
})
