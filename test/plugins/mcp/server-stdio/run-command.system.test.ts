import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, it } from 'node:test'
import { type McpRun, type McpRunOptions, mcpRun } from '../../../kit/mcp-run.ts'

describe('guard mcp run', () => {
  const runs: McpRun[] = []
  const start = async (options?: McpRunOptions): Promise<McpRun> => {
    const run = await mcpRun(options)
    runs.push(run)
    return run
  }
  afterEach(async () => {
    for (const run of runs.splice(0)) await run.close()
  })
  const request = (id: string, method: string, params = '{}') =>
    `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`

  it('4.5: relays byte for byte, line by line, with nothing else on standard output', async () => {
    const run = await start()
    const line = '{ "jsonrpc":"2.0","id":12345678901234567891, "method":"x/line","x":[1.0,"\\u00e9é"]}'
    run.send(line)
    const answer = await run.next()
    assert.equal(answer, `{"jsonrpc":"2.0","id":12345678901234567891,"result":{"line":${JSON.stringify(line)}}}`)
    run.send(Buffer.from('\n\r\n{"jsonrpc":"2.0","id":"crlf","method":"x/line"}\r\n'))
    assert.match(await run.next(), /"id":"crlf"/)
    run.end()
    assert.deepEqual([await run.rest(), await run.code], [[], 0])
    assert.match(
      run.io.errText(),
      /^\[guard\] starting ".*mcp-child.ts" {2}server child {2}policy .*policy.yml \([0-9a-f]{12}\) {2}mode enforce\n(?:.*\n)*child: started\n/m,
    )
  })

  it('reads characters across the borders of chunks', async () => {
    const run = await start()
    const bytes = Buffer.from(`${request('1', 'x/line', '{"a":"💥"}')}\n`)
    const middle = bytes.indexOf(0xf0) + 1
    run.send(bytes.subarray(0, middle))
    await new Promise(setImmediate)
    run.send(bytes.subarray(middle))
    assert.match(await run.next(), /💥/)
    run.send(request('2', 'x/split'))
    assert.match(await run.next(), /"text":"💥é"/)
  })

  it('answers what is no message, and continues', async () => {
    const run = await start()
    run.send('{"broken')
    assert.match(await run.next(), /^\{"jsonrpc":"2.0","error":\{"code":-32700/)
    run.send('[{"jsonrpc":"2.0","id":1,"method":"ping"}]')
    assert.match(await run.next(), /^\{"jsonrpc":"2.0","error":\{"code":-32600/)
    run.send('{"jsonrpc":"2.0","id":3,"method":"ping","params":{"a":1,"a":2}}')
    assert.match(await run.next(), /^\{"jsonrpc":"2.0","id":3,"error":\{"code":-32600/)
    run.send('{"jsonrpc":"2.0","method":"ping","params":[]}')
    run.send('{"jsonrpc":"2.0","id":99,"result":{}}')
    run.send(request('4', 'server/discover'))
    assert.match(await run.next(), /^\{"jsonrpc":"2.0","id":4,"error":\{"code":-32601/)
    run.send(request('5', 'x/line'))
    assert.match(await run.next(), /"id":5/)
  })

  it('drops a line that is too long, and answers it', async () => {
    const run = await start({ config: 'mcp: { limits: { frame_bytes: 1000 } }' })
    run.send(request('1', 'x/line', `{"a":"${'x'.repeat(1000)}"}`))
    assert.match(
      await run.next(),
      /^\{"jsonrpc":"2.0","error":\{"code":-32600,"message":"The message is longer than 1000 bytes/,
    )
    run.send(request('2', 'x/big', '{"bytes":2000}'))
    assert.match(await run.next(), /"id":2,"error":\{"code":-32603/)
    run.send(request('3', 'x/line'))
    assert.match(await run.next(), /"id":3/)
  })

  it('drops what the child prints that is no message, and says so once', async () => {
    const run = await start()
    for (const id of ['1', '2']) {
      run.send(request(id, 'x/noise'))
      assert.equal(await run.next(), `{"jsonrpc":"2.0","id":${id},"result":{}}`)
    }
    assert.equal(run.io.errText().match(/no MCP message/g)?.length, 1)
  })

  it('passes progress and requests of the server in their order', async () => {
    const run = await start()
    run.send(request('1', 'x/progress', '{"_meta":{"progressToken":"p"}}'))
    assert.match(await run.next(), /notifications\/progress/)
    assert.match(await run.next(), /aside/)
    assert.match(await run.next(), /"id":1/)
    run.send(request('"1"', 'x/ask'))
    assert.equal(await run.next(), '{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{}}')
    run.send('{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}')
    assert.equal(await run.next(), '{"jsonrpc":"2.0","id":"1","result":{"answered":{"action":"accept"}}}')
  })

  it('hands messages to the server in the order of the client, although calls are judged', async () => {
    const run = await start({ policy: 'version: 1\ndefault: allow\nrules: [{ id: no, tools: [rm], action: deny }]\n' })
    const lines = [
      request('1', 'tools/call', '{"name":"ls"}'),
      '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}',
      request('2', 'tools/call', '{"name":"rm"}'),
      request('3', 'resources/list'),
      request('4', 'tools/call', '{"name":"ls"}'),
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}',
      request('5', 'x/seen'),
    ]
    run.send(Buffer.from(lines.map((line) => `${line}\n`).join('')))
    const answers: string[] = []
    while (!answers.at(-1)?.includes('"id":5')) answers.push(await run.next())
    assert.match(answers.at(-1) ?? '', /"result":\[1,"notifications\/roots\/list_changed",3,5\]/)
  })

  it('judges calls of tools', async () => {
    const run = await start({ policy: 'version: 1\ndefault: allow\nrules: [{ id: no, tools: [rm], action: deny }]\n' })
    run.send(request('1', 'tools/call', '{"name":"rm"}'))
    assert.match(await run.next(), /Denied by rule 'no'/)
    run.send(request('2', 'tools/call', '{"name":"ls","arguments":{"n":1.0}}'))
    assert.match(await run.next(), /"id":2,"result"/)
  })

  it('says on standard error when the policy file has changed, and why it cannot be used', async () => {
    const run = await start({ policy: 'version: 1\ndefault: allow\nrules: []\n' })
    const judged = async (policy: string, id: string): Promise<string> => {
      await writeFile(join(run.folder, 'policy.yml'), policy)
      run.send(request(id, 'tools/call', '{"name":"ls"}'))
      return run.next()
    }
    run.send(request('0', 'tools/call', '{"name":"ls"}'))
    assert.match(await run.next(), /"id":0,"result"/)
    assert.match(await judged('version: 1\ndefualt: deny\nrules: []\n', '1'), /"id":1,"result":(?!.*Denied)/)
    assert.match(
      run.io.errText(),
      /\[guard\] the policy file cannot be used as it stands; [0-9a-f]{12} stays in force\n\[guard\] policy\.yml:2:1: unknown key "defualt"; did you mean "default"\?\n/,
    )
    assert.match(await judged('version: 1\ndefault: deny\nrules: []\n', '2'), /"id":2,.*Denied/)
    assert.match(run.io.errText(), /\[guard\] policy read anew \([0-9a-f]{12}\) {2}mode enforce\n/)
  })

  it('ends with the code of a child that exits first, and leaves no request without an answer', async () => {
    const run = await start()
    run.send(request('1', 'x/silent'))
    run.send(request('2', 'x/exit', '{"code":7}'))
    const left = await run.rest()
    assert.deepEqual([...left].sort(), [
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Upstream server exited (code 7)"}}',
      '{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"Upstream server exited (code 7)"}}',
    ])
    assert.equal(await run.code, 7)
  })

  it('answers what was sent before the client ended', async () => {
    const run = await start()
    run.send(request('1', 'tools/call', '{"name":"x"}'))
    run.end()
    assert.match((await run.rest())[0] ?? '', /"id":1,"result"/)
    assert.equal(await run.code, 0)
  })

  it('ends with a client that reads no more', { timeout: 60_000 }, async () => {
    const run = await start()
    run.send(request('1', 'x/line'))
    await run.next()
    run.leave()
    assert.equal(await run.code, 0)
  })

  describe('and a child that stays', { concurrency: true }, () => {
    it('stops a child that stays: SIGTERM, then SIGKILL', { timeout: 60_000 }, async (test) => {
      const run = await mcpRun({ child: ['--stay'] })
      test.after(() => run.close())
      run.send(request('1', 'x/line'))
      await run.next()
      run.end()
      assert.match((await run.rest()).join(), /SIGTERM/)
      assert.equal(await run.code, 137)
    })
    it('sees the end of its input after a child that reads nothing', { timeout: 60_000 }, async (test) => {
      const run = await mcpRun({ command: [process.execPath, '--eval', 'setInterval(() => {}, 1000)'] })
      test.after(() => run.close())
      const ids = Array.from({ length: 400 }, (_, id) => `${id}`)
      for (const id of ids) run.send(request(id, 'ping', `{"_":"${'x'.repeat(4000)}"}`))
      run.end()
      const left = await run.rest()
      assert.equal(await run.code, 143)
      assert.deepEqual(
        left.map((line) => /"id":(\d+),"error"/.exec(line)?.[1]).sort((a, b) => Number(a) - Number(b)),
        ids,
      )
    })
  })

  it('says what could not be started', async () => {
    const run = await start({ command: ['/nowhere/at-all'] })
    run.send(request('1', 'ping'))
    assert.match(
      (await run.rest()).join(),
      /"id":1,"error":\{"code":-32603,"message":"Upstream server could not be started \(ENOENT\)/,
    )
    assert.equal(await run.code, 127)
  })

  it("keeps the gateway's own variables from the child, and gives one back when told to", async () => {
    const env = {
      PATH: process.env.PATH ?? '',
      MINE: '1',
      GUARD_CONFIG_NOTE: 'x',
      GUARD_OTHER: 'y',
      OPENAI_API_KEY: 'sk-of-the-user-0123456789',
      LEAK: 'guard_test_key_that_is_long_enough',
    }
    const run = await start({ env, flags: ['--env', 'GUARD_OTHER', '--env', 'ABSENT'] })
    run.send(request('1', 'x/env'))
    const { result } = JSON.parse(await run.next()) as { result: Record<string, string> }
    assert.deepEqual([result.MINE, result.GUARD_OTHER], ['1', 'y'])
    for (const kept of ['GUARD_CONFIG_NOTE', 'LEAK', 'OPENAI_API_KEY']) assert.equal(result[kept], undefined, kept)
    assert.match(
      run.io.errText(),
      /kept from the server's environment: GUARD_CONFIG_NOTE, OPENAI_API_KEY, LEAK; "guard mcp run --env GUARD_CONFIG_NOTE …" gives one back/,
    )
    assert.match(run.io.errText(), /--env gives nothing for ABSENT: not in this environment/)
  })

  it('passes on what the configuration gives the very same server, under any name, and nothing of another one', async () => {
    const token = 'xoxb-a-token-of-the-server'
    const env = { PATH: process.env.PATH ?? '', SLACK_TOKEN: token, OTHER: token, THEIRS: 'token-of-another-server' }
    const server = (name: string, value: string) => `{ transport: stdio, command: x, env: { ${name}: "${value}" } }`
    const config = `mcp: { servers: { child: ${server('SLACK_BOT_TOKEN', token)}, other: ${server('A_TOKEN', env.THEIRS)} } }`
    const run = await start({ env, config })
    run.send(request('1', 'x/env'))
    const { result } = JSON.parse(await run.next()) as { result: Record<string, string> }
    assert.deepEqual([result.SLACK_TOKEN, result.OTHER, result.THEIRS], [token, token, undefined])
  })

  it('refuses a policy that can ask where nobody could answer, with 78', async () => {
    const asking = await start({
      policy: 'version: 1\ndefault: confirm\nrules: []\n',
      config: 'storage: { backend: memory }',
    })
    assert.equal(await asking.code, 78)
    assert.match(asking.io.errText(), /nobody else could give it/)
  })

  it('refuses a policy that cannot be used, with 78, and a wrong command line with 2', async () => {
    assert.equal(await (await start({ policy: 'version: 2\nrules: []\n' })).code, 78)
    assert.equal(await (await start({ command: [] })).code, 2)
    for (const project of ['a b', '..']) assert.equal(await (await start({ flags: ['--project', project] })).code, 2)
  })
})
