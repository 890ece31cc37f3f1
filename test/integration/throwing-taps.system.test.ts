import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type Call, errorOrigin, Gateway, type Plugin } from 'guard-gateway/core'
import { startGateway } from '../kit/gateway.ts'
import { type McpService, startMcp } from '../kit/mcp.ts'
import { fakeProvider } from '../kit/provider.ts'

type HookName = keyof Gateway['hooks']

/** What a plugin may throw, in JavaScript. */
const thrown: Readonly<Record<string, () => unknown>> = {
  error: () => {
    throw new Error('an inner text')
  },
  text: () => {
    throw 'an inner text'
  },
  nothing: () => {
    throw undefined
  },
  null: () => {
    throw null
  },
  zero: () => {
    throw 0
  },
  symbol: () => {
    throw Symbol('an inner text')
  },
  frozen: () => {
    throw Object.freeze(new Error('an inner text'))
  },
  bare: () => {
    throw Object.create(null)
  },
  getter: () => {
    const getter = { get: () => assert.fail('an inner text') }
    throw Object.defineProperties(new Error(''), { message: getter, stack: getter, code: getter, cause: getter })
  },
  rejected: () => Promise.reject(new Error('an inner text')),
  rejected_nothing: () => Promise.reject(),
}

/** What the plugin does at this moment, in one of its taps. */
const armed: { hook: string; what: string } = { hook: '', what: '' }

/** Throws in each hook that there is, on demand. */
const thrower: Plugin = {
  name: 'thrower',
  apply({ hooks }) {
    for (const [name, hook] of Object.entries(hooks) as [string, { tap: Tap; tapPromise: Tap; promise?: unknown }][]) {
      const isSync = 'call' in hook && SYNC.has(name)
      const run = (first: unknown) => {
        if (armed.hook === name) return thrown[armed.what]?.()
        return name === 'tool' ? first : undefined
      }
      if (isSync) hook.tap('thrower', run)
      else hook.tapPromise('thrower', run)
    }
  },
}
type Tap = (name: string, run: (first: unknown) => unknown) => void
const SYNC: ReadonlySet<string> = new Set(['listen', 'tool', 'fault', 'notice', 'reply', 'named'])

interface Told {
  readonly status: number
  readonly text: string
}

describe('a tap that throws', () => {
  let service: McpService
  const provider = fakeProvider()
  before(async () => {
    service = await startMcp({ plugins: [thrower], upstream: (await provider).url })
  })
  after(async () => {
    armed.hook = ''
    await service[Symbol.asyncDispose]()
    await (await provider).close()
  })

  const post = (path: string, body: unknown, headers = {}): Promise<Told> =>
    service.gateway.request('POST', path, body, headers)
  const count = { n: 0 }
  const content = () => [{ role: 'user', content: `words ${count.n++}` }]
  const chat = () => post('/v1/chat/completions', { model: 'm-1', messages: content() })
  const message = () => post('/v1/messages', { model: 'm-1', max_tokens: 9, messages: content() })

  /** The client hears of a failure in its own dialect, and nothing of its inside. */
  const refused = async (ask: () => Promise<Told>) => {
    const { status, text } = await ask()
    assert.ok(status === 500 || status === 502, `${status} ${text}`)
    const { error } = JSON.parse(text) as { error: { type: string; code?: string; message: string } }
    assert.equal(typeof error.message, 'string')
    assert.doesNotMatch(text, /inner text|\bat \/|TypeError/)
    return error
  }
  const inBothDialects = async () => {
    await refused(chat)
    const error = await refused(message)
    assert.ok(error.type !== undefined)
  }
  const served = async (ask: () => Promise<Told>) => assert.equal((await ask()).status, 200)
  const started = async (): Promise<string> => {
    try {
      const started = await startGateway({ backend: 'memory', plugins: [thrower] })
      await started.close()
      return started.logText()
    } catch (error) {
      return `${errorOrigin(error)}`
    }
  }

  /** How each hook is reached, and what comes of a tap that throws: the text in which its name stands. */
  const cases: Readonly<Record<HookName, () => Promise<string | undefined>>> = {
    open: started,
    http: started,
    listen: started,
    drain: started,
    close: started,
    request: async () => void (await inBothDialects()),
    decision: async () => void (await inBothDialects()),
    forward: async () => void (await inBothDialects()),
    outbound: async () => void (await inBothDialects()),
    proxy: async () =>
      void (await refused(() => post('/v1/messages/count_tokens', { model: 'm-1', messages: content() }))),
    reply: async () => void (await served(chat)),
    named: async () => void (await served(() => post('/v1/responses', { model: 'm-1', input: content() }))),
    settle: async () => void (await served(chat)),
    record: async () => void (await chat()),
    tool: async () => {
      const session = await service.session()
      const answer = await session.call('echo', { text: `${count.n++}` })
      assert.equal(answer.status, 200)
      return undefined
    },
    trace: async () => void (await refused(() => post('/api/v1/traces', ingest(count.n++)))),
    keep: async () => void (await refused(() => post('/api/v1/traces', ingest(count.n++)))),
    forget: async () => {
      const error = await service.gateway.gateway.hooks.forget.promise([]).catch((reason: unknown) => reason)
      return `${errorOrigin(error)}`
    },
    notice: async () => {
      await served(() =>
        post('/v1/chat/completions', { model: 'm-1', messages: content() }, { 'x-guard-session-id': 'n' }),
      )
      await served(() => post('/api/sessions/n/pause', {}))
      await served(() => post('/api/sessions/n/resume', {}))
      return undefined
    },
    // nobody is left to hear of it
    fault: async () => {
      service.gateway.gateway.fault(new Error('another'), 'test')
      return 'fault:thrower'
    },
  }

  it('is looked at in each hook that there is', () => {
    assert.deepEqual(Object.keys(cases).toSorted(), Object.keys(new Gateway().hooks).toSorted())
  })
  for (const hook of Object.keys(cases) as HookName[])
    it(`in "${hook}" is told by its name, whatever it throws, and the gateway goes on`, async () => {
      for (const what of Object.keys(thrown)) {
        // a promise that nobody waits for is none of the hook's
        if (SYNC.has(hook) && what.startsWith('rejected')) continue
        const before = service.gateway.logText().length
        Object.assign(armed, { hook, what })
        const said = await cases[hook]()
        await turn()
        armed.hook = ''
        const heard = said ?? service.gateway.logText().slice(before)
        assert.match(heard, new RegExp(`${hook}:thrower`), `${hook} ${what}: ${heard}`)
        await served(chat)
      }
    })
  it('that waits for ever is told by its name, and waited for no longer than the hook says', {
    timeout: 60_000,
  }, async () => {
    const wait = (hook: string, call: object) =>
      (call as Call).envelope.model === hook ? new Promise<never>(() => {}) : (undefined as never)
    const never: Plugin = {
      name: 'never',
      apply({ hooks }) {
        hooks.request.tapPromise('slow', (call) => wait('request', call))
        hooks.decision.tapPromise('slow', (_decision, call) => wait('decision', call))
        hooks.outbound.tapPromise('slow', (_head, call) => wait('outbound', call))
        hooks.settle.tapPromise('slow', ({ call }) => wait('settle', call))
      },
    }
    const hooks = ['request', 'decision', 'outbound', 'settle'] as const
    const { url } = await provider
    const gateway = await startGateway({ plugins: [never], upstream: url })
    const ask = (model: string) =>
      gateway.request('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: model }] })
    const answers = await Promise.all(hooks.map(async (hook) => [hook, (await ask(hook)).status]))
    assert.deepEqual(answers, [
      ['request', 500],
      ['decision', 500],
      ['outbound', 500],
      ['settle', 200],
    ])
    for (const hook of hooks) assert.match(gateway.logText(), new RegExp(`"fault":"${hook}:slow"`))
    assert.equal((await ask('m-1')).status, 200)
    await gateway.close()
  })
})

const ingest = (n: number) => ({ name: `mine ${n}` })
