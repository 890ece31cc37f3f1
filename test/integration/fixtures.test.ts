import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CallRecord } from '#lib/trace'
import { type RecordedRequest, recordings, varied } from '../kit/recordings.ts'
import { decisionOf, errorOf, type Service, startService } from '../kit/service.ts'

/** Where each client says which session it is in. */
const sourceOf = (name: string): string =>
  Object.entries({
    'claude-code': 'x-claude-code-session-id',
    codex: 'session-id',
    'opencode-1.18.33-chat': 'x-session-id',
    'opencode-chat': 'x-session-id',
    opencode: 'session-id',
    cline: 'derived',
  }).find(([client]) => name.startsWith(client))?.[1] ?? ''

const header = { claude: 'x-claude-code-session-id', codex: 'session-id' }

for (const { name, requests } of recordings())
  describe(`the recording ${name}`, () => {
    let service: Service
    before(async () => {
      service = await startService()
    })
    after(() => service[Symbol.asyncDispose]())

    const send = ({ url, headers, body }: RecordedRequest) => service.request('POST', url, body, headers)
    const rows = async (): Promise<readonly CallRecord[]> =>
      (await service.gateway.gateway.storage.find('calls', { order: ['recorded', 'asc'] })).rows

    it('raises no flag while the session gets on, and each request extends the one before', async () => {
      for (const request of requests) {
        const answer = await send(varied(request))
        assert.deepEqual(decisionOf(answer), { status: 200, decision: 'allow', reason: null }, answer.text)
        assert.equal(service.provider.last.body.toString(), JSON.stringify(varied(request).body), 'untouched')
      }
      const recorded = await rows()
      const sessions = new Set(recorded.map(({ session_id }) => session_id))
      // a client without a session header is recognised by its first words, and a title request has others
      assert.equal(sessions.size, 1)
      const session = await service.session([...sessions].join())
      assert.equal(session.external_source, sourceOf(name))
      assert.deepEqual([session.requests, session.flagged, session.total_tokens > 0], [requests.length, 0, true])
      const withTools = recorded.filter((_, index) => requests[index]?.body.tools !== undefined)
      assert.equal(new Set(withTools.map(({ thread }) => thread)).size, 1)
      assert.deepEqual(
        withTools.map(({ root }) => root),
        withTools.map((_, index) => index === 0),
      )
    })

    it('notices at the third equal call that the session as recorded is stuck', async () => {
      const renamed = requests.map(anew)
      const decisions = []
      for (const request of renamed) decisions.push((await send(request)).headers.get('x-guard-reason'))
      const calls = renamed.map(
        ({ body }) => JSON.stringify(body).split(/tool_use_id|tool_call_id|_call_output/).length - 1,
      )
      assert.deepEqual(
        decisions,
        calls.map((count) => (count >= 3 ? 'LOOP_TOOL_CALL' : null)),
      )
    })
  })

/** The same requests in another session. */
const anew = ({ url, headers, body }: RecordedRequest): RecordedRequest => {
  const other = JSON.stringify({ headers, body })
    .replaceAll(/ses_[A-Za-z0-9]{12}/g, 'ses_another00000')
    .replaceAll(/("(?:session-id|x-claude-code-session-id)":")[^"]{8}/g, '$1aaaaaaaa')
    .replaceAll('run echo', 'do echo')
  return { url, ...(JSON.parse(other) as Pick<RecordedRequest, 'headers' | 'body'>) }
}

describe('what clients change from request to request', () => {
  let service: Service
  before(async () => {
    service = await startService({ config: 'default_mode: enforce' })
  })
  after(() => service[Symbol.asyncDispose]())
  const of = (client: string): readonly RecordedRequest[] =>
    recordings().find(({ name }) => name.startsWith(client))?.requests ?? []
  const send = ({ url, headers, body }: RecordedRequest, session: Record<string, string>, over: object = {}) =>
    service.request('POST', url, { ...body, ...over }, { ...headers, ...session })

  it('Codex: ids of items, metadata and their order are not the conversation', async () => {
    const [first, second] = of('codex').slice(2)
    assert.ok(first && second)
    const send = (request: RecordedRequest, n: number) => {
      const { url, headers, body } = varied(request)
      const { client_metadata, input } = body as { client_metadata: object; input: Record<string, unknown>[] }
      const over = {
        input: input.map((item, index) => ('id' in item ? { ...item, id: `other_${n}_${index}` } : item)),
        client_metadata: Object.fromEntries(
          Object.keys(client_metadata)
            .map((key, at) => [key, `${n} ${at}`])
            .reverse(),
        ),
      }
      const ours = { [header.codex]: 'codex-ids', 'x-client-request-id': `request-${n}` }
      return service.request('POST', url, { ...body, ...over }, { ...headers, ...ours })
    }
    const answers = [await send(first, 1), await send(second, 2), await send(second, 3), await send(second, 4)]
    const reasons = answers.map((answer) => decisionOf(answer).reason)
    assert.deepEqual(reasons, [null, null, null, 'LOOP_EXACT'])
    const { rows } = await service.gateway.gateway.storage.find('calls', { order: ['recorded', 'asc'] })
    assert.deepEqual(
      rows.map(({ fingerprint, root }) => [fingerprint === rows[1]?.fingerprint, root]),
      [
        [false, true],
        [true, false],
        [true, false],
        [true, false],
      ],
    )
  })

  it('Claude Code: a prompt typed after a refusal comes beside the last result, and ends the block', async () => {
    const session = { [header.claude]: 'typed-after' }
    const stuck = of('claude')[3]
    assert.ok(stuck)
    for (const request of of('claude').slice(0, 3)) assert.equal((await send(request, session)).status, 200)
    const blocked = await send(stuck, session)
    assert.deepEqual([blocked.status, errorOf(blocked).code], [429, 'LOOP_TOOL_CALL'])
    const messages = structuredClone(stuck.body.messages) as { content: object[] }[]
    const beside = (text: string) =>
      send(stuck, session, {
        messages: messages.map((message, index) =>
          index === messages.length - 1
            ? { ...message, content: [...message.content, { type: 'text', text }] }
            : message,
        ),
      })
    assert.equal((await beside('<system-reminder>Be brief.</system-reminder>')).status, 429, 'nobody typed that')
    assert.equal((await beside('Stop echoing and read the file.')).status, 200)
  })

  it('Claude Code: subagents and the main agent are threads of one session', async () => {
    const [first] = of('claude')
    assert.ok(first)
    const session = { [header.claude]: 'with-subagents' }
    for (const agent of ['a', 'b', 'c', 'd'])
      assert.equal((await send(first, { ...session, 'x-claude-code-agent-id': agent }, { system: agent })).status, 200)
    assert.equal((await service.session('with-subagents')).requests, 4)
  })

  for (const [what, field, value, source] of [
    ['older Claude Code', 'metadata', { user_id: `user_1_account__session_${'a'.repeat(8)}` }, 'metadata.user_id'],
    ['Claude Code', 'metadata', { user_id: '{"device_id":"d","session_id":"window-7"}' }, 'metadata.user_id'],
    ['Codex', 'prompt_cache_key', '0b0e7d1c-1111-7222-8333-444455556666', 'prompt_cache_key'],
    ['a stateful client', 'conversation', { id: 'conv_77' }, 'conversation'],
  ] as const)
    it(`${what} is recognised by the member ${field} when no header names the session`, async () => {
      const path = field === 'metadata' ? '/v1/messages' : '/v1/responses'
      const body =
        field === 'metadata' ? { max_tokens: 1, messages: [{ role: 'user', content: 'hi' }] } : { input: 'hi' }
      const answer = await service.request('POST', path, { model: 'm-1', ...body, [field]: value })
      const session = await service.session(answer.headers.get('x-guard-session-id') ?? '')
      assert.equal(session.external_source, source)
    })
})
