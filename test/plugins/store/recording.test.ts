import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Gateway, GuardError, type OnStorageFailure, type Plugin, storage } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { exactRepeat } from 'guard-gateway/plugins/detectors/exact-repeat'
import { http, serve } from 'guard-gateway/plugins/http'
import { policy } from 'guard-gateway/plugins/policy'
import { recorder } from 'guard-gateway/plugins/recorder'
import { sessions } from 'guard-gateway/plugins/sessions'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { upstream } from 'guard-gateway/plugins/upstream'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { foundation } from 'guard-gateway/presets/foundation'
import { FakeProvider } from '../../kit/provider.ts'

const KEY = 'a-key-that-is-long-enough'

/** A backend that works until it is told that it does not: it then reads, and refuses every write. */
const failing = () => {
  let state: 'ok' | 'full' | 'failing' = 'ok'
  const backend = storage({
    id: 'failing',
    open: async (tables) => {
      const driver = await memory().open(tables)
      return {
        ...driver,
        get state() {
          return state
        },
        write: async (batch, options) => {
          if (state !== 'ok') throw new GuardError('STORAGE_UNAVAILABLE')
          return driver.write(batch, options)
        },
      }
    },
  })
  return { backend, become: (next: typeof state) => (state = next) }
}

const started = async (
  onStorageFailure: OnStorageFailure,
  mode: 'shadow' | 'enforce',
  use: (
    ask: () => Promise<Response>,
    become: (state: 'ok' | 'full' | 'failing') => void,
    provider: FakeProvider,
  ) => Promise<void>,
) => {
  const provider = await new FakeProvider().listen()
  const { backend, become } = failing()
  const plugins: Plugin[] = [
    backend,
    chatCompletions,
    exactRepeat,
    http({ gateway_key: KEY }),
    undici,
    upstream({ upstreams: [{ name: 'main', base_url: provider.url, styles: ['chat_completions'] }] }),
    sessions(),
    policy({ default_mode: mode }),
    recorder(),
  ]
  const gateway = new Gateway().use(...foundation({ store: { on_failure: onStorageFailure } }), ...plugins)
  const serving = await serve(gateway, { port: 0, log: { write: () => true } })
  const ask = () =>
    fetch(`${serving.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }),
    })
  try {
    await use(ask, become, provider)
  } finally {
    await serving.close()
    await provider.close()
  }
}

describe('while nothing can be recorded', () => {
  for (const [state, code] of [
    ['full', 'STORAGE_FULL'],
    ['failing', 'STORAGE_UNAVAILABLE'],
  ] as const) {
    it(`requests are refused with ${code} and reach no provider, and pass again afterwards`, () =>
      started('refuse', 'shadow', async (ask, become, provider) => {
        become(state)
        const refused = await ask()
        assert.equal(refused.status, 503)
        assert.equal(refused.headers.get('retry-after'), '5')
        assert.equal(((await refused.json()) as { error: { code: string } }).error.code, code)
        assert.equal(provider.requests.length, 0)
        become('ok')
        assert.equal((await ask()).status, 200)
      }))
  }
  it('shadow requests pass unrecorded where the configuration says forward, and say so', () =>
    started('forward', 'shadow', async (ask, become) => {
      become('full')
      const passed = await ask()
      assert.equal(passed.status, 200)
      assert.equal(passed.headers.get('x-guard-recorded'), 'false')
      await passed.text()
      become('ok')
      const recorded = await ask()
      assert.equal(recorded.headers.get('x-guard-recorded'), null)
      await recorded.text()
    }))
  it('enforced requests never do', () =>
    started('forward', 'enforce', async (ask, become, provider) => {
      become('failing')
      const refused = await ask()
      assert.equal(refused.status, 503)
      await refused.text()
      assert.equal(provider.requests.length, 0)
    }))
})
