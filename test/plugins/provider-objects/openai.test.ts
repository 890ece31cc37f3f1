import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import OpenAI from 'openai'
import type { CallRecord } from '#lib/trace'
import { type Started, startGateway } from '../../kit/gateway.ts'
import { type ResponsesProvider, responsesProvider } from '../../kit/responses-provider.ts'

interface House extends Started {
  readonly provider: ResponsesProvider
  readonly client: OpenAI
  calls(): Promise<readonly CallRecord[]>
  end(): Promise<void>
}

const open = async (provider: ResponsesProvider, config = ''): Promise<House> => {
  const started = await startGateway({ upstream: provider.url, config })
  const client = new OpenAI({ baseURL: `${started.url}/v1`, apiKey: started.key, maxRetries: 0 })
  return {
    ...started,
    provider,
    client,
    calls: async () => {
      await started.gateway.storage.flush()
      const { rows } = await started.gateway.storage.find('calls', { order: ['recorded', 'asc'] })
      return rows
    },
    end: async () => {
      await started.close()
      await provider.close()
    },
  }
}

const background = { model: 'gpt-x', input: 'look for the bug', background: true, store: true } as const
const tokensOf = (rows: readonly CallRecord[]) => rows.map(({ total_tokens }) => total_tokens)

describe('a background response', () => {
  let house: House
  before(async () => {
    house = await open(await responsesProvider())
  })
  after(() => house.end())

  it('has its tokens on record once, when a retrieval tells them', async () => {
    const made = await house.client.responses.create(background)
    assert.equal(made.status, 'queued')
    const [row] = await house.calls()
    assert.deepEqual([row?.usage_source, row?.total_tokens, row?.outcome], ['partial', 0, 'ok'])
    let last = made
    while (last.status !== 'completed') last = await house.client.responses.retrieve(made.id)
    await house.client.responses.retrieve(made.id)
    const rows = await house.calls()
    assert.deepEqual(tokensOf(rows), [0, 120])
    const late = rows[1]
    assert.deepEqual(
      [late?.uncounted, late?.session_id, late?.input_tokens, late?.cache_read_tokens, late?.output_tokens],
      ['retrieval', row?.session_id, 60, 40, 20],
    )
    assert.deepEqual(late?.notes, { retrieves: row?.id })
    const { session } = (await house.request('GET', `/api/sessions/${row?.session_id}`)).json as {
      readonly session: Record<string, unknown>
    }
    assert.deepEqual([session.requests, session.total_tokens], [1, 120])
  })

  it('is told by a stream that is taken up again, and counted once', async () => {
    const stream = await house.client.responses.create({ ...background, input: 'stream it', stream: true })
    let id = ''
    for await (const part of stream) if (part.type === 'response.created') id = part.response.id
    const again = await house.client.responses.retrieve(id, { stream: true, starting_after: 1 })
    const types = []
    for await (const part of again) types.push(part.type)
    assert.deepEqual(types, ['response.in_progress', 'response.completed'])
    await house.client.responses.retrieve(id)
    const rows = (await house.calls()).filter(({ response_id }) => response_id === id)
    assert.deepEqual(tokensOf(rows), [0, 120])
  })

  it('counts towards the budget of its session', async () => {
    await house.request('PUT', '/api/policies/default', {
      mode: 'enforce',
      rules: [
        { id: 'tokens', rule_type: 'max_tokens', threshold: 100, window_size: 1, action: 'block', enabled: true },
      ],
    })
    const headers = { 'x-guard-session-id': 'spender' }
    const made = await house.client.responses.create({ ...background, input: 'spend' }, { headers })
    assert.equal((await house.client.responses.create({ ...background, input: 'more' }, { headers })).status, 'queued')
    for (let time = 0; time < 3; time++) await house.client.responses.retrieve(made.id)
    await assert.rejects(
      house.client.responses.create({ ...background, input: 'too much' }, { headers }),
      /Guard blocked this request/,
    )
    assert.equal((await house.client.responses.retrieve(made.id)).status, 'completed')
  })

  it('is cancelled, listed and deleted as at the provider', async () => {
    const made = await house.client.responses.create({ ...background, input: 'stop it' })
    assert.equal((await house.client.responses.cancel(made.id)).status, 'cancelled')
    assert.deepEqual((await house.client.responses.inputItems.list(made.id)).data, [])
    await house.client.responses.delete(made.id)
    await assert.rejects(house.client.responses.retrieve(made.id), { status: 404 })
  })

  it('is held back while its session is paused, though no header names the session', async () => {
    const made = await house.client.responses.create({ ...background, input: 'pause it' })
    const session = (await house.calls()).at(-1)?.session_id
    await house.request('POST', `/api/sessions/${session}/pause`)
    await assert.rejects(house.client.responses.retrieve(made.id), { status: 409 })
    await house.request('POST', `/api/sessions/${session}/resume`)
    assert.equal((await house.client.responses.retrieve(made.id)).id, made.id)
  })
})

describe('a response that failed in the background', () => {
  it('counts what it used, as an error of the upstream', async () => {
    const house = await open(await responsesProvider({ polls: 1, fails: true }))
    try {
      const made = await house.client.responses.create(background)
      await house.client.responses.retrieve(made.id)
      const [, late] = await house.calls()
      assert.deepEqual([late?.outcome, late?.total_tokens], ['upstream_error', 120])
    } finally {
      await house.end()
    }
  })
})

describe('a compaction', () => {
  it('is judged and recorded as a request', async () => {
    const house = await open(await responsesProvider())
    try {
      const compacted = await house.client.responses.compact({ model: 'gpt-x', input: 'a long story' })
      assert.equal(compacted.object, 'response.compaction')
      const [row] = await house.calls()
      assert.deepEqual([row?.path, row?.total_tokens, row?.usage_source], ['/v1/responses/compact', 120, 'reported'])
      // the same input as an answer is another request
      await house.client.responses.create({ model: 'gpt-x', input: 'a long story' })
      const rows = await house.calls()
      assert.equal(new Set(rows.map(({ fingerprint }) => fingerprint)).size, 2)
      await house.request('PUT', '/api/policies/default', {
        mode: 'enforce',
        rules: [{ id: 'x', rule_type: 'exact_repeat', threshold: 3, window_size: 8, action: 'block', enabled: true }],
      })
      const again = () => house.client.responses.compact({ model: 'gpt-x', input: 'a long story' })
      await again()
      await assert.rejects(async () => {
        for (let time = 0; time < 4; time++) await again()
      }, /Guard blocked/)
    } finally {
      await house.end()
    }
  })
})

describe('other paths of the Responses API', () => {
  it('have the aliases of the others', async () => {
    const house = await open(await responsesProvider())
    try {
      const { id } = await house.client.responses.create(background)
      for (const base of ['', '/v1/v1'])
        assert.equal((await house.request('GET', `${base}/responses/${id}?include[]=x`)).status, 200)
      assert.deepEqual(house.provider.requests.slice(1), Array(2).fill(`GET /v1/responses/${id}?include[]=x`))
    } finally {
      await house.end()
    }
  })

  it('pass with the key, and are no requests', async () => {
    const house = await open(await responsesProvider())
    try {
      assert.equal((await house.client.responses.inputTokens.count({ model: 'gpt-x', input: 'x' })).input_tokens, 11)
      const { id } = await house.client.conversations.create({})
      await house.client.conversations.retrieve(id)
      await house.client.conversations.update(id, { metadata: { a: 'b' } })
      await house.client.conversations.items.create(id, { items: [{ role: 'user', content: 'x' }] })
      await house.client.conversations.items.list(id)
      await house.client.conversations.items.retrieve('item_1', { conversation_id: id })
      await house.client.conversations.items.delete('item_1', { conversation_id: id })
      await house.client.conversations.delete(id)
      assert.equal((await house.calls()).length, 0)
      assert.equal(house.provider.requests.length, 9)
      const bare = await fetch(`${house.url}/v1/conversations/${id}`)
      assert.equal(bare.status, 401)
      assert.equal(house.provider.requests.length, 9)
    } finally {
      await house.end()
    }
  })
})

describe('responses of several upstreams and projects', () => {
  it('are retrieved where they were made, by keys of their project alone', async () => {
    const [first, second] = [await responsesProvider({ name: 'one' }), await responsesProvider({ name: 'two' })]
    const started = await startGateway({
      config: `upstreams:\n  - { name: one, base_url: "${first.url}", styles: [responses], models: ["gpt-1*"] }\n  - { name: two, base_url: "${second.url}", styles: [responses], models: ["gpt-2*"] }`,
    })
    try {
      const client = new OpenAI({ baseURL: `${started.url}/v1`, apiKey: started.key, maxRetries: 0 })
      const own = { headers: { 'x-guard-project-id': 'shop' } }
      const made = await client.responses.create({ ...background, model: 'gpt-2' }, own)
      assert.equal((await client.responses.retrieve(made.id)).id, made.id)
      assert.deepEqual(first.requests, [])
      const keyed = async (project: string): Promise<OpenAI> => {
        const answer = await started.request('POST', '/api/keys', {
          name: project,
          scopes: ['models'],
          projects: [project],
        })
        const { key } = answer.json as { readonly key: string }
        return new OpenAI({ baseURL: `${started.url}/v1`, apiKey: key, maxRetries: 0 })
      }
      assert.equal((await (await keyed('shop')).responses.retrieve(made.id)).id, made.id)
      const before = second.requests.length
      await assert.rejects((await keyed('other')).responses.retrieve(made.id), { status: 404 })
      assert.equal(second.requests.length, before)
    } finally {
      await started.close()
      await first.close()
      await second.close()
    }
  })
})
