import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { RunSummary } from '#lib/trace-file'
import { aCall, aDecision, settled } from '../../../kit/settled.ts'
import { type Bench, expecting, startReplay } from '../kit.ts'

interface Listed {
  readonly runs: readonly RunSummary[]
  readonly next_cursor: string | null
  readonly truncated: boolean
}

const query = (...attributes: readonly string[]): string =>
  attributes.map((text) => `attribute=${encodeURIComponent(text)}`).join('&')

const span = (attributes: object) => ({ name: 'step', attributes })

/** Runs by id, with what they hold. */
const RUNS: Readonly<Record<string, object>> = {
  prod: {
    attributes: { 'deployment.environment': 'prod' },
    spans: [span({ 'http.status': 529, retried: true, 'user.id': 'U-1', ratio: 0.25 })],
  },
  staging: {
    attributes: { 'deployment.environment': 'staging' },
    spans: [span({ 'http.status': 200, retried: false, 'user.id': 'u-1' }), span({ 'http.status': 404 })],
  },
  nested: {
    spans: [
      span({ request: { id: 7, headers: { accept: 'text/html' } }, tags: ['red', 'blue'], 'tokens.ns': 12_345_678 }),
    ],
  },
  noted: { events: [{ name: 'note', attributes: { severity: 'high', text: 'a = b < c' } }] },
  far: {
    spans: [
      span({ a: { b: { c: { d: { e: { f: { g: 'deep' } } } } } } }),
      span({ list: Array.from({ length: 40 }, (_, n) => n), count: '1e3', other: '5.0' }),
    ],
  },
  plain: { spans: [span({})] },
}

for (const backend of ['memory', 'sqlite'] as const)
  describe(`runs are found by any attribute, in ${backend}`, () => {
    let bench: Bench
    before(async () => {
      bench = await startReplay({ backend })
      for (const [trace_id, body] of Object.entries(RUNS))
        expecting(201, await bench.send('POST', '/api/v1/traces', { trace_id, ...body }))
    })
    after(() => bench.close())
    const found = async (...attributes: readonly string[]): Promise<readonly string[]> => {
      const { runs } = expecting<Listed>(200, await bench.send('GET', `/api/v1/runs?${query(...attributes)}`))
      return runs.map(({ trace_id }) => trace_id).toSorted()
    }

    it('of a run, a span or an event', async () => {
      assert.deepEqual(await found('deployment.environment=prod'), ['prod'])
      assert.deepEqual(await found('user.id=u-1'), ['staging'])
      assert.deepEqual(await found('severity=high'), ['noted'])
      assert.deepEqual(await found('text=a = b < c'), ['noted'])
    })

    it('that exists', async () => {
      assert.deepEqual(await found('http.status'), ['prod', 'staging'])
      assert.deepEqual(await found('nowhere'), [])
    })

    it('by numbers and booleans, however a number is written', async () => {
      assert.deepEqual(await found('http.status=529'), ['prod'])
      assert.deepEqual(await found('http.status=529.0'), ['prod'])
      assert.deepEqual(await found('ratio=0.25'), ['prod'])
      assert.deepEqual(await found('tokens.ns=12345678'), ['nested'])
      assert.deepEqual(await found('retried=false'), ['staging'])
    })

    it('by comparison', async () => {
      assert.deepEqual(await found('http.status>=404'), ['prod', 'staging'])
      assert.deepEqual(await found('http.status>404'), ['prod'])
      assert.deepEqual(await found('http.status<300'), ['staging'])
      assert.deepEqual(await found('http.status!=529'), ['staging'])
      assert.deepEqual(await found('user.id~U-'), ['prod', 'staging'])
      assert.deepEqual(await found('tokens.ns>1e7'), ['nested'])
    })

    it('in lists and objects', async () => {
      assert.deepEqual(await found('tags=blue'), ['nested'])
      assert.deepEqual(await found('request.id=7'), ['nested'])
      assert.deepEqual(await found('request.headers.accept~html'), ['nested'])
    })

    it('as deep and as far as records go', async () => {
      assert.deepEqual(await found('a.b.c.d.e.f.g=deep'), ['far'])
      assert.deepEqual(await found('a.b.c.d.e.f'), ['far'])
      assert.deepEqual(await found('list=39'), ['far'])
    })

    it('by texts that stand for numbers', async () => {
      for (const test of ['count=1000', 'count=1e3', 'count=1000.0', 'other=5', 'other=5.0'])
        assert.deepEqual(await found(test), ['far'], test)
    })

    it('that all hold, by different records too', async () => {
      assert.deepEqual(await found('http.status=200', 'http.status=404'), ['staging'])
      assert.deepEqual(await found('http.status>500', 'deployment.environment=prod'), ['prod'])
      assert.deepEqual(await found('http.status=529', 'deployment.environment=staging'), [])
    })

    it('of requests that the gateway recorded, and of their tool calls', async () => {
      const reading = { ...settled().reading, calls: [{ id: 'call_9', tool: 'read_file', args: '{}' }] }
      const call = aCall({ id: 'guardreq_r', at: bench.clock.now(), session: null })
      await bench.gateway.hooks.decision.promise(aDecision(), call)
      await bench.settle(settled({ call, reading, upstream: 'anthropic', ended_at: bench.clock.now() }))
      const { runs } = expecting<Listed>(200, await bench.send('GET', '/api/v1/runs?origin=gateway'))
      const recorded = runs.map(({ trace_id }) => trace_id)
      assert.equal(recorded.length, 1)
      for (const test of [
        'gen_ai.request.model=m-1',
        'gen_ai.provider.name=anthropic',
        'guard.outcome=ok',
        'guard.request_id=guardreq_r',
        'gen_ai.tool.name=read_file',
        'gen_ai.tool.call.id=call_9',
        'gen_ai.usage.input_tokens>=0',
        'decision=allow',
        'gen_ai.request.stream=false',
      ])
        assert.deepEqual(await found(test), recorded, test)
      assert.deepEqual(await found('guard.request_id=guardreq_other'), [])
    })

    it('by the current value of a record, and no longer by an old one', async () => {
      const sent = (state: string) => ({
        trace_id: 'changed',
        spans: [{ id: 's', name: 'step', attributes: { state } }],
      })
      for (const state of ['first', 'second']) await bench.send('POST', '/api/v1/traces', sent(state))
      assert.deepEqual([await found('state=first'), await found('state=second')], [[], ['changed']])
    })
  })

describe('a filter by attributes', () => {
  it('pages through runs that must be read', async () => {
    await using bench = await benchOf(90, (n) => ({ trace_id: `run-${n}`, spans: [span({ n: n + 0.5 })] }))
    const all: string[] = []
    let cursor = ''
    for (let pages = 0; pages < 20; pages++) {
      const path = `/api/v1/runs?limit=20&${query('n>30')}${cursor}`
      const page = expecting<Listed>(200, await bench.send('GET', path))
      assert.ok(page.runs.length <= 20)
      all.push(...page.runs.map(({ trace_id }) => trace_id))
      if (page.next_cursor === null) break
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
    assert.deepEqual(
      all,
      Array.from({ length: 60 }, (_, n) => `run-${89 - n}`),
    )
  })

  it('reads a bounded number of records a page, and goes on where it ended', async () => {
    const spans = Array.from({ length: 2_000 }, () => span({ x: 0.5 }))
    await using bench = await benchOf(14, (n) => ({
      trace_id: `run-${n}`,
      spans: n === 0 ? [span({ x: 2.5 })] : spans,
    }))
    const pages: Listed[] = []
    for (let cursor = ''; pages.length < 10; ) {
      const page = expecting<Listed>(200, await bench.send('GET', `/api/v1/runs?limit=2&${query('x>2')}${cursor}`))
      pages.push(page)
      if (page.next_cursor === null) break
      cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
    }
    assert.deepEqual(
      pages.flatMap(({ runs }) => runs.map(({ trace_id }) => trace_id)),
      ['run-0'],
    )
    assert.deepEqual(
      pages.map(({ truncated }) => truncated),
      [true, true, false],
    )
  })

  it('names what is wrong with it', async () => {
    await using bench = await benchOf(0, () => ({}))
    for (const text of ['=x', '>5', 'a>high', 'a~', `a=${'x'.repeat(1_024)}`]) {
      const { error } = expecting<{ error: { code: string; message: string } }>(
        400,
        await bench.send('GET', `/api/v1/runs?${query(text)}`),
      )
      assert.equal(error.code, 'INVALID_FILTER')
      assert.match(error.message, /^"attribute" must be/)
    }
    const many = query(...Array.from({ length: 17 }, (_, n) => `a${n}`))
    assert.equal((await bench.send('GET', `/api/v1/runs?${many}`)).status, 400)
  })
})

const benchOf = async (
  runs: number,
  bodyOf: (n: number) => object,
): Promise<Pick<Bench, 'send'> & { [Symbol.asyncDispose](): Promise<void> }> => {
  const bench = await startReplay()
  for (let n = 0; n < runs; n++) expecting(201, await bench.send('POST', '/api/v1/traces', bodyOf(n)))
  return { send: bench.send, [Symbol.asyncDispose]: () => bench.close() }
}
