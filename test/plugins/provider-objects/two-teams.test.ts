import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { onEachBackend } from '../../kit/backends.ts'
import { type Answer, type Remote, remote } from '../access/kit.ts'
import { type AccountProvider, accountProvider } from './account-provider.ts'
import { type Kind, kinds, message } from './object-kinds.ts'

const config = (url: string): string => `upstreams:
  - { name: main, base_url: "${url}", styles: [responses, chat_completions, messages, gemini] }
passthrough:
  - /v1/files
  - /v1/files/**
  - /v1/Files/**
  - /v1/batches
  - /v1/batches/**
  - /v1/messages/batches
  - /v1/messages/batches/**
  - /v1/containers
  - /v1/containers/**
  - /v1/vector_stores
  - /v1/vector_stores/**
  - /v1/evals
  - /v1/evals/**
  - /v1/fine_tuning/jobs
  - /v1/fine_tuning/jobs/**
  - /v1/prompts
  - /v1/prompts/**
  - /v1/chat/completions/**
  - /v1beta/cachedContents
  - /v1beta/cachedContents/**
`

onEachBackend('two teams with one provider account', (backend) => {
  let running: Remote
  let provider: AccountProvider
  const keys = { alpha: '', bravo: '' }
  before(async () => {
    provider = await accountProvider()
    running = await remote({ backend, config: config(provider.url) })
    for (const team of ['alpha', 'bravo'] as const) keys[team] = (await running.key(['models'], [team], team)).key
  })
  after(async () => {
    await running[Symbol.asyncDispose]()
    await provider.close()
  })

  const post = (team: 'alpha' | 'bravo', path: string, body: object, headers = {}): Promise<Answer> =>
    running.ask(path, { method: 'POST', key: keys[team], body, headers })
  const make = async ({ create: [path, body], id }: Kind): Promise<string> => {
    const made = await post('bravo', path, body)
    assert.equal(made.status, 200, made.text)
    return id(made.json)
  }
  const refused = async (what: string, ask: () => Promise<Answer>): Promise<void> => {
    const sent = provider.requests.length
    const answer = await ask()
    assert.equal(answer.status, 404, `${what}: ${answer.text}`)
    assert.match(answer.text, /not there in the projects of this key/, what)
    assert.equal(provider.requests.length, sent, `${what} went up`)
  }

  for (const [name, kind] of Object.entries(kinds)) {
    it(`a ${name} in a body is 404 for the other team, and served for its own`, async () => {
      const id = await make(kind)
      for (const [path, body] of kind.bodies) {
        await refused(`${path} ${JSON.stringify(body(id))}`, () => post('alpha', path, body(id)))
        assert.equal((await post('bravo', path, body(id))).status, 200, path)
      }
    })
    it(`a ${name} in a path is 404 for the other team, and served for its own`, async () => {
      const id = await make(kind)
      for (const [method, path] of kind.paths) {
        const ask = (team: 'alpha' | 'bravo') =>
          running.ask(path(id), {
            method,
            key: keys[team],
            ...(method === 'POST' || method === 'PATCH' ? { body: {} } : {}),
          })
        await refused(`${method} ${path(id)}`, () => ask('alpha'))
        assert.equal((await ask('bravo')).status, 200, path(id))
      }
    })
  }

  for (const events of [1, 2, 4])
    it(`a stream that breaks after ${events} events has named its response and conversation`, async () => {
      provider.cutAfter = events
      const begun = await fetch(`${running.url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${keys.bravo}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'm-1', input: 'go', stream: true, new_conversation: true }),
      })
      let text = ''
      try {
        for await (const chunk of begun.body ?? []) text += Buffer.from(chunk).toString()
      } catch {
        // it was cut
      }
      const [, id = ''] = /"id":"(resp_\w+)"/.exec(text) ?? []
      const [, conversation = ''] = /"id":"(conv_\w+)"/.exec(text) ?? []
      for (const path of [`/v1/responses/${id}`, `/v1/conversations/${conversation}/items`]) {
        await refused(path, () => running.ask(path, { key: keys.alpha }))
        assert.equal((await running.ask(path, { key: keys.bravo })).status, 200)
      }
      await running.gateway.storage.flush()
      const { rows } = await running.gateway.storage.find('calls', { where: { response_id: id } })
      assert.equal(
        rows.reduce((sum, row) => sum + row.total_tokens, 0),
        78,
        'the retrieval is counted',
      )
      await refused('body', () =>
        post('alpha', '/v1/responses', { model: 'm-1', input: 'x', previous_response_id: id }),
      )
    })

  it('the file that a batch made belongs to the team of the batch', async () => {
    const id = await make(kinds.batch as Kind)
    await running.ask(`/v1/batches/${id}`, { key: keys.bravo })
    await refused('output', () => running.ask(`/v1/files/file-of-${id}/content`, { key: keys.alpha }))
  })

  it('a list of the whole account is 404 for a key that is bound to projects', async () => {
    for (const path of [
      '/v1/files',
      '/v1/files?limit=1',
      '/v1/batches',
      '/v1/vector_stores',
      '/v1beta/cachedContents',
      '/v1/files?file_id=file-x',
    ]) {
      const sent = provider.requests.length
      assert.equal((await running.ask(path, { key: keys.alpha })).status, 404, path)
      assert.equal(provider.requests.length, sent)
    }
  })

  it('an object that was never seen passes', async () => {
    assert.equal(
      (await post('alpha', '/v1/responses', { model: 'm-1', input: 'x', previous_response_id: 'resp_never' })).status,
      200,
    )
    assert.equal((await running.ask('/v1/conversations/conv_never/items', { key: keys.alpha })).status, 200)
  })

  it('arguments of tools name nothing', async () => {
    const id = await make(kinds.file as Kind)
    const messages = [
      { role: 'user', content: 'open it' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'open', input: { file_id: id } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: `{"file_id":"${id}"}` }] },
    ]
    assert.equal((await post('alpha', '/v1/messages', { model: 'm-1', max_tokens: 9, messages })).status, 200)
  })

  it('the error has the form of the dialect', async () => {
    const id = await make(kinds.file as Kind)
    const anthropic = await post(
      'alpha',
      '/v1/messages',
      message({ type: 'document', source: { type: 'file', file_id: id } }),
    )
    assert.equal(anthropic.json.type, 'error')
    const google = await post('alpha', '/v1beta/models/g:generateContent', {
      contents: [{ parts: [{ fileData: { fileUri: `files/${id}` } }] }],
    })
    assert.equal((google.json.error as { status: string }).status, 'NOT_FOUND')
  })
})
