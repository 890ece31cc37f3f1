import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { Child } from '../../../bench/load/child.ts'
import { type ReplyPlan, shapes } from '../../../bench/load/shapes.ts'

const file = (name: string): string => join(import.meta.dirname, '../../../bench/load', name)

describe('the processes of the load suite', () => {
  const children: Child[] = []
  const child = (name: string): Child => {
    const started = new Child(name, file(`${name}.ts`))
    children.push(started)
    return started
  }
  let provider: Child
  let raw: Child
  let generator: Child
  let port = 0
  let set = 0

  before(async () => {
    provider = child('provider')
    raw = child('passthrough')
    generator = child('generator')
    const upstream = await provider.request('listen', { upstream: 0 })
    port = await raw.request('listen', { upstream })
  })
  after(() => Promise.all(children.map((one) => one.stop())))

  const run = async (shape: string, reply: ReplyPlan, expected: ReplyPlan = reply, rate?: number) => {
    set++
    await provider.request('plan', { reply })
    await generator.request('open', { shape, reply: expected, ports: [port], key: 'k', set, connections: 2 })
    const result = await generator.request('run', { set, requests: 6, ...(rate === undefined ? {} : { rate }) })
    await generator.request('close', { set })
    return result
  }

  for (const { id, reply } of shapes()) {
    it(`forward ${id} and receive complete replies`, async () => {
      const { stream } = reply
      const plan = stream === undefined ? reply : { ...reply, stream: { chunks: 5, interval_ms: 2 } }
      const { requests, failed, errors } = await run(id, plan)
      assert.deepEqual({ requests, failed, errors }, { requests: 6, failed: 0, errors: [] })
    })
  }
  it('send at a fixed rate, even above the number of connections', async () => {
    const { requests, failed } = await run('chat_1k', { style: 'chat_completions' }, undefined, 100_000)
    assert.deepEqual({ requests, failed }, { requests: 6, failed: 0 })
  })
  it('ask several targets in turns at the pace of people, with further headers', async () => {
    const reply = { style: 'chat_completions' } as const
    await provider.request('plan', { reply })
    const sets = [++set, ++set]
    const open = { shape: 'chat_1k', reply, ports: [port], key: 'k', connections: 1, headers: { 'x-more': 'yes' } }
    for (const one of sets) await generator.request('open', { ...open, set: one })
    const { latencies_ms, failed } = await generator.request('pace', { sets, requests: 3, pause_ms: [0, 1] })
    assert.deepEqual([latencies_ms.map(({ length }) => length), failed], [[3, 3], 0])
  })
  it('count a reply of another length as failed', async () => {
    const { failed, errors } = await run('chat_1k', { style: 'messages' }, { style: 'chat_completions' })
    assert.equal(failed, 6)
    assert.match(errors[0] ?? '', /^status 200 with \d+ bytes, 200 with \d+ expected$/)
  })
  it('report their resource usage', async () => {
    const { cpu_us, rss_bytes } = await raw.request('usage', null)
    assert.ok(cpu_us > 0)
    assert.ok(rss_bytes > 1_000_000)
  })
  it('report the event-loop delay only of the monitored time', async () => {
    const delay = async () => (await raw.request('usage', null)).loop_delay_ms
    await raw.request('watch', 'on')
    while ((await delay()) === 0) await run('chat_1k', { style: 'chat_completions' })
    await raw.request('watch', 'off')
    assert.ok((await delay()) > 0)
    await raw.request('watch', 'anew')
    await run('chat_1k', { style: 'chat_completions' })
    assert.equal(await delay(), 0)
  })
  it('report the error of a message', async () => {
    await assert.rejects(raw.request('run', { set: 0, requests: 1 }), /passthrough: this process does not answer "run"/)
    await assert.rejects(generator.request('run', { set: 0, requests: 1 }), /no connections were opened as set 0/)
  })
})
