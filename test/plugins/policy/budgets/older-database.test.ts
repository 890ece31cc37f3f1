import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import { startGateway } from 'guard-gateway/test'
import { type FakeProvider, fakeProvider } from '../../../kit/provider.ts'

const cached = {
  status: 200,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({
    id: 'c1',
    object: 'chat.completion',
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Done.' } }],
    usage: {
      prompt_tokens: 1000,
      completion_tokens: 0,
      total_tokens: 1000,
      prompt_tokens_details: { cached_tokens: 900 },
    },
  }),
}

describe('a database of an earlier version', () => {
  let provider: FakeProvider
  let folder = ''
  before(async () => {
    provider = await fakeProvider()
    folder = await mkdtemp(join(tmpdir(), 'guard-older-'))
  })
  after(async () => {
    await provider.close()
    await rm(folder, { recursive: true, force: true })
  })

  it('opens; its rules hold as they did, and its sessions know what they read from caches by their records', async (context) => {
    const start = () => startGateway({ upstream: provider.url, backend: 'sqlite', folder })
    const first = await start()
    const ask = async (gateway: typeof first) => {
      const body = { model: 'm', messages: [{ role: 'user', content: `task ${provider.requests.length}` }] }
      const { status, json } = await gateway.request('POST', '/v1/chat/completions', body, {
        'x-guard-session-id': 'mine',
      })
      return (json as { readonly error?: { readonly code: string } }).error?.code ?? status
    }
    const stored = {
      rule_type: 'max_tokens',
      threshold: 5000,
      params: { scope: 'session', reserve: false },
      id: 'whole',
    }
    await first.request('PUT', '/api/policies/default', { mode: 'enforce', rules: [stored] })
    provider.script(cached, cached, cached, cached)
    for (let n = 0; n < 3; n++) assert.equal(await ask(first), 200)
    await first.close()

    const db = new Sqlite(join(folder, 'guard.db'))
    db.exec('alter table sessions drop column cache_read_tokens; drop table usage_rollups')
    db.close()

    const second = await start()
    context.after(() => second.close())
    const weighed = { ...stored, id: 'weighed', params: { cache_weight: 0.1 }, action: 'flag' }
    await second.request('PUT', '/api/policies/default', { rules: [stored, weighed] })
    const used = async () => {
      const { json } = await second.request('GET', '/api/sessions/mine')
      const { session, budgets } = json as {
        readonly session: { readonly cache_read_tokens: number | null }
        readonly budgets: readonly { readonly used: number }[]
      }
      return [session.cache_read_tokens, ...budgets.map((budget) => budget.used)]
    }
    const list = (await second.request('GET', '/api/sessions')).json as { sessions: { cache_read_tokens: unknown }[] }
    assert.equal(list.sessions[0]?.cache_read_tokens, null)
    assert.deepEqual((await used()).slice(1), [3000, 570])
    assert.equal(await ask(second), 200)
    assert.deepEqual(await used(), [3600, 4000, 760])
  })
})
