import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type ChildGateway, startChildGateway } from '../kit/child-gateway.ts'
import { type FakeProvider, fakeProvider } from '../kit/provider.ts'

const LIMIT = 6
const budget = (rule_type: string, threshold: number, params: object) => ({
  mode: 'enforce',
  rules: [{ id: rule_type, rule_type, threshold, action: 'block', params }],
})

/** Requests in flight when the gateway is killed, and the same gateway after its next start. */
for (const synchronous of ['normal', 'full'])
  describe(`a gateway killed with requests in flight, with synchronous: ${synchronous}`, () => {
    let folder = ''
    let provider: FakeProvider
    let gateway: ChildGateway | undefined
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'guard-in-flight-'))
      provider = await fakeProvider()
    })
    after(async () => {
      await gateway?.end('SIGKILL')
      await provider.close()
      await rm(folder, { recursive: true, force: true })
    })

    const start = async (): Promise<void> => {
      gateway = await startChildGateway(folder, provider.url, `storage: { synchronous: ${synchronous} }`)
    }
    const ask = async (path: string, { method = 'GET', body, headers = {} }: Asked = {}) => {
      const answer = await fetch((gateway?.url ?? '') + path, {
        method,
        headers: {
          'x-guard-key': gateway?.key ?? '',
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await answer.text()
      return { status: answer.status, json: JSON.parse(text), text, id: answer.headers.get('x-guard-request-id') }
    }
    const policy = async (project: string, body: object): Promise<void> => {
      const { status, text } = await ask(`/api/policies/${project}`, { method: 'PUT', body })
      assert.equal(status, 200, text)
    }
    const send = (project: string, session: string, text: string) =>
      ask('/v1/chat/completions', {
        method: 'POST',
        headers: { 'x-guard-project-id': project, 'x-guard-session-id': session },
        body: { model: 'm-1', max_tokens: 100, messages: [{ role: 'user', content: text }] },
      })
    const inFlight = async (project: string, count: number, sessionOf: (at: number) => string): Promise<void> => {
      for (let at = 0; at < count; at++) {
        const arrived = provider.next()
        provider.script({ silent: true })
        send(project, sessionOf(at), `open ${at}`).catch(() => undefined)
        await arrived
      }
    }
    it('grants no budget of requests anew, and shows them as interrupted', async () => {
      await start()
      await policy('counted', budget('max_requests', LIMIT, { scope: 'project', per: 'month' }))
      const told = await Promise.all([0, 1].map((at) => send('counted', 'known', `done ${at}`)))
      assert.deepEqual(
        told.map(({ status }) => status),
        [200, 200],
      )
      await inFlight('counted', 3, (at) => (at === 0 ? 'known' : 'new'))
      assert.deepEqual(await gateway?.end('SIGKILL'), [null, 'SIGKILL'])
      await start()
      const reached = provider.requests.length
      const statuses: number[] = []
      for (let at = 0; at < 4; at++) statuses.push((await send('counted', 'later', `later ${at}`)).status)
      assert.deepEqual(statuses, [200, 429, 429, 429])
      assert.equal(provider.requests.length, reached + 1)
      for (const [session, requests, open] of [
        ['known', 3, 1],
        ['new', 2, 2],
      ] as const) {
        const { json } = await ask(`/api/sessions/${session}`)
        assert.equal(json.session.requests, requests, session)
        const { json: runs } = await ask(`/api/v1/runs?session_id=${json.session.id}`)
        assert.equal(runs.runs.length, 1)
        const { json: run } = await ask(`/api/v1/runs/${runs.runs[0].trace_id}`)
        const text = JSON.stringify(run)
        assert.equal(text.split('"interrupted"').length - 1 >= open, true, text)
        const { json: history } = await ask(`/api/sessions/${session}/events?limit=200`)
        assert.equal(JSON.stringify(history).split('"interrupted"').length - 1, open)
      }
    })
    it('counts what was held for them, and has them once after another kill', async () => {
      await policy('held', budget('max_tokens', 220, { scope: 'project', per: 'month', reserve: true }))
      await inFlight('held', 2, () => 'held')
      await gateway?.end('SIGKILL')
      for (let starts = 0; starts < 2; starts++) {
        await start()
        const { json } = await ask('/api/sessions/held')
        assert.equal(json.session.requests, 2)
        assert.ok(json.session.total_tokens > 200, String(json.session.total_tokens))
        assert.equal((await send('held', 'held', `more ${starts}`)).status, 429)
        if (starts === 0) await gateway?.end('SIGKILL')
      }
    })
  })

interface Asked {
  readonly method?: string
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}
