import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type McpService, startMcp } from '../../../kit/mcp.ts'
import { beginEvents } from '../../../kit/mcp-upstream.ts'

const DENY = 'version: 1\ndefault: deny\nrules: [{ id: t, tools: [read_file], action: allow }]\n'

interface Told {
  readonly name: string
  readonly action: string
  readonly forwarded: boolean
  readonly rule_ids: readonly string[]
  readonly reason: string
}
const requests = async (service: McpService): Promise<readonly Told[]> => {
  const { json } = await service.gateway.request('GET', '/api/v1/mcp/events?kind=request&limit=200')
  return (json as { events: Told[] }).events.toReversed()
}
const READS: readonly (readonly [method: string, params: object])[] = [
  ['resources/read', { uri: 'file:///etc/passwd' }],
  ['resources/subscribe', { uri: 'file:///etc/passwd' }],
  ['prompts/get', { name: 'p' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'p' }, argument: { name: 'a', value: 'b' } }],
  ['files/read', { path: '/etc/passwd' }],
  ['files/list', {}],
]
const PASSING = ['ping', 'tools/list', 'prompts/list', 'resources/list', 'resources/templates/list', 'logging/setLevel']

/** Opens a stream in which the server asks its client for something; gives what came, and what the server was told. */
const asked = async (service: McpService, method: string, within = false) => {
  const client = await service.session()
  const ask = `data: {"jsonrpc":"2.0","id":"s1","method":"${method}","params":{}}\n\n`
  service.upstream.answering = ({ method: verb, message }, response) => {
    const isHere = within ? message?.method === 'tools/call' : verb === 'GET'
    if (!isHere) return false
    const stream = beginEvents(response)
    stream.write(ask)
    stream.end(
      within
        ? `data: ${JSON.stringify({ jsonrpc: '2.0', id: message?.id, result: { content: [] } })}\n\n`
        : 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n',
    )
    return true
  }
  const text = within ? (await client.call('read_file', { path: 'a' })).text : await (await client.fetch('GET')).text()
  return { text, passed: text.includes(`"method":"${method}"`) }
}

describe('requests that are no calls of tools', () => {
  it('are denied under default: deny where they read or are not known; lifecycle, ping and lists pass', async () => {
    await using service = await startMcp({ policy: DENY })
    const client = await service.session()
    for (const [method, params] of READS) {
      const { status, json } = await client.request(method, params)
      assert.deepEqual(
        [status, json?.error?.code, json?.error?.data],
        [200, -32000, { type: 'mcp_error', code: 'MCP_DENIED' }],
        method,
      )
      assert.match(json?.error?.message ?? '', /^Denied by the policy: it allows no \S+, and its default is deny\.$/)
      assert.equal(service.upstream.calls(method).length, 0, method)
    }
    for (const method of PASSING) assert.ok((await client.request(method)).json?.result !== undefined, method)
    assert.equal((await client.call('read_file', { path: 'a' })).json?.result?.isError, undefined)
    await client.post({ jsonrpc: '2.0', method: 'notifications/roots/list_changed' })
    assert.equal(service.upstream.calls('notifications/roots/list_changed').length, 1)
  })

  it('are on record, whatever becomes of them, without what they say', async () => {
    await using service = await startMcp({ policy: DENY })
    const client = await service.session()
    await client.request('resources/read', { uri: 'file:///etc/passwd' })
    await client.request('tools/list')
    await client.request('ping')
    const told = await requests(service)
    assert.deepEqual(
      told.map(({ name, action, forwarded, rule_ids }) => [name, action, forwarded, rule_ids]),
      [
        ['initialize', 'allow', true, ['default']],
        ['resources/read', 'deny', false, ['default']],
        ['tools/list', 'allow', true, ['default']],
      ],
    )
    assert.ok(!JSON.stringify(told).includes('passwd'))
  })

  it('of a server that asks unasked are denied under default: deny, and the server learns so', async () => {
    for (const method of ['sampling/createMessage', 'elicitation/create', 'files/read']) {
      await using service = await startMcp({ policy: DENY })
      const { passed, text } = await asked(service, method)
      assert.equal(passed, false, method)
      assert.match(text, /notifications\/message/, 'what follows passes')
      const answer = () => service.upstream.asked.find(({ message }) => message?.id === 's1')?.message
      while (answer() === undefined) await new Promise(setImmediate)
      assert.equal((answer() as { error?: { code: number } }).error?.code, -32000)
      const [last] = (await requests(service)).filter(({ name }) => name === method)
      assert.deepEqual([last?.action, last?.reason], ['deny', 'the server asks its client, which the policy denies'])
    }
    for (const method of ['roots/list', 'ping']) {
      await using service = await startMcp({ policy: DENY })
      assert.equal((await asked(service, method)).passed, true, method)
    }
  })

  it('of a server reach the client within a call that was let through', async () => {
    for (const method of ['sampling/createMessage', 'elicitation/create']) {
      await using service = await startMcp({ policy: DENY })
      assert.equal((await asked(service, method, true)).passed, true, method)
    }
    await using service = await startMcp({ policy: `${DENY}methods: { "sampling/*": deny }\n` })
    assert.equal((await asked(service, 'sampling/createMessage', true)).passed, false)
  })

  it('pass under other defaults, and are ruled by name, pattern and other', async () => {
    for (const by of ['allow', 'confirm']) {
      await using service = await startMcp({ policy: `version: 1\ndefault: ${by}\nrules: []\n` })
      const client = await service.session()
      for (const [method, params] of READS) assert.ok((await client.request(method, params)).json?.result, method)
    }
    const methods = 'methods: { resources/read: allow, "resources/*": deny, prompts/list: deny, other: deny }'
    await using service = await startMcp({ policy: `version: 1\ndefault: allow\nrules: []\n${methods}\n` })
    const client = await service.session()
    const passes = async (method: string) => (await client.request(method, { uri: 'a' })).json?.result !== undefined
    assert.deepEqual(
      await Promise.all(['resources/read', 'resources/subscribe', 'prompts/list', 'tools/list', 'x/y'].map(passes)),
      [true, false, false, true, false],
    )
    assert.match((await client.request('x/y')).json?.error?.message ?? '', /\(methods\.other\): x\/y is not allowed/)
  })

  it('pass in shadow mode, with what the policy said on record', async () => {
    await using service = await startMcp({ policy: DENY.replace('default', 'mode: shadow\ndefault') })
    const client = await service.session()
    assert.ok((await client.request('resources/read', { uri: 'a' })).json?.result)
    const read = (await requests(service)).find(({ name }) => name === 'resources/read')
    assert.deepEqual([read?.action, read?.forwarded], ['deny', true])
  })

  it('can ask a person: the same request continues once allowed, and a no is told with its reason', async () => {
    const methods = 'methods: { resources/read: confirm }'
    await using service = await startMcp({ policy: `version: 1\ndefault: allow\nrules: []\n${methods}\n` })
    const client = await service.session()
    const read = (uri: string) => client.request('resources/read', { uri })
    const ask = async (uri: string) => {
      const { error } = (await read(uri)).json ?? {}
      assert.match(error?.message ?? '', /^Approval required \(apr_\w+\): resources\/read on "up"\. Ask the user/)
      assert.equal(error?.data?.code, 'MCP_CONFIRM')
      return String(error?.data?.approval_id)
    }
    const decide = (id: string, body: object) => service.gateway.request('POST', `/api/v1/mcp/approvals/${id}`, body)
    assert.equal((await decide(await ask('a'), { action: 'allow' })).status, 200)
    assert.ok((await read('a')).json?.result)
    await ask('a')
    const id = await ask('b')
    await decide(id, { action: 'deny', reason: 'read docs/ instead' })
    assert.equal(
      (await read('b')).json?.error?.message,
      `Denied by the user (${id}): read docs/ instead. Do not retry the same call.`,
    )
  })
})
