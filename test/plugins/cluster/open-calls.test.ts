import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startService } from 'guard-gateway/test'
import { HourSums } from '../../../plugins/recorder/figures/hour-sums.ts'
import { endOpenCalls } from '../../../plugins/recorder/open-calls.ts'
import { sharedMemory } from '../../kit/shared-memory.ts'

const chat = { model: 'm-1', max_tokens: 500, messages: [{ role: 'user', content: 'Hello' }] }
const headers = { 'x-guard-session-id': 'mine' }
const PATH = '/v1/chat/completions'
const budget = (params: object) => ({
  mode: 'enforce',
  rules: [
    { id: 'tokens', rule_type: 'max_tokens', action: 'block', threshold: 400, params: { reserve: true, ...params } },
  ],
})

describe('a call whose process dies', () => {
  for (const [title, params] of [
    ['its session', {}],
    ['its project', { scope: 'project', per: 'day' }],
  ] as const) {
    it(`is ended by another one as interrupted, once, and counts what it held of ${title}`, async () => {
      const backend = sharedMemory()
      const start = () => startService({ plugins: [backend], backend: 'shared-memory' })
      await using dying = await start()
      await using alive = await start()
      await alive.policy(budget(params))
      const arrived = dying.provider.next()
      dying.provider.script({ silent: true })
      const abort = new AbortController()
      const lost = fetch(`${dying.gateway.url}${PATH}`, {
        method: 'POST',
        signal: abort.signal,
        headers: { ...headers, authorization: `Bearer ${dying.gateway.key}`, 'content-type': 'application/json' },
        body: JSON.stringify(chat),
      }).catch(() => undefined)
      await arrived
      // its tokens are held: there is no room for as many again
      const refused = await alive.request('POST', PATH, chat, headers)
      assert.equal(refused.headers.get('x-guard-reason'), 'LIMIT_TOKENS')
      const { gateway } = alive.gateway
      const { rows: open } = await gateway.storage.find('open_calls')
      assert.equal(open.length, 1)
      const instance = open[0]?.instance ?? ''
      await endOpenCalls(gateway, new HourSums(), instance)
      await endOpenCalls(gateway, new HourSums(), instance)
      const call = await gateway.storage.get('calls', open[0]?.id ?? '')
      assert.deepEqual([call?.outcome, call?.decision, call?.model_requested], ['interrupted', 'allow', 'm-1'])
      assert.equal((await gateway.storage.find('open_calls')).rows.length, 0)
      // the provider may bill it: its tokens are no longer held, and used
      const after = await alive.request(
        'POST',
        PATH,
        { ...chat, messages: [{ role: 'user', content: 'And?' }] },
        headers,
      )
      assert.equal(after.headers.get('x-guard-reason'), 'LIMIT_TOKENS')
      const { requests, blocked, total_tokens } = await alive.session('mine')
      assert.deepEqual([requests, blocked, total_tokens], [1, 2, call?.total_tokens])
      assert.ok(total_tokens >= chat.max_tokens, String(total_tokens))
      abort.abort()
      await lost
    })
  }
})
