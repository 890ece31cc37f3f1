import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Started, startGateway } from '../../kit/gateway.ts'
import { installed } from '../../kit/installed.ts'
import { authority } from '../../kit/private-authority.ts'
import { type FakeProvider, fakeProvider } from '../../kit/provider.ts'
import { type ServerProgram, startProgram } from '../../kit/server-program.ts'
import { type TlsFront, tlsFront } from '../../kit/tls-front.ts'

const tinyproxy = installed('tinyproxy')
const text = { model: 'm', messages: [{ role: 'user', content: 'ü'.repeat(200_000) }] }

describe('through a real tinyproxy', { skip: tinyproxy.absent }, () => {
  let folder = ''
  let provider: FakeProvider
  let front: TlsFront
  let proxy: ServerProgram
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guard-tinyproxy-'))
    provider = await fakeProvider()
    const { port: behind } = new URL(provider.url)
    front = await tlsFront(Number(behind))
    await writeFile(join(folder, 'root.pem'), authority)
    proxy = await startProgram(tinyproxy.path, async (port) => {
      const file = join(folder, 'tinyproxy.conf')
      const lines = [`Port ${port}`, 'Listen 127.0.0.1', 'BasicAuth bob pass-of-bob', `ConnectPort ${front.port}`]
      await writeFile(file, `${[...lines, 'MaxClients 20', 'Timeout 60', 'LogLevel Info'].join('\n')}\n`)
      return ['-d', '-c', file]
    })
  })
  after(async () => {
    await proxy[Symbol.asyncDispose]()
    await front[Symbol.asyncDispose]()
    await provider.close()
    await rm(folder, { recursive: true })
  })
  const through = (base_url: string, login = 'bob:pass-of-bob@'): Promise<Started> =>
    startGateway({
      folder,
      config: `upstreams: [{ name: p, base_url: "${base_url}", styles: [chat_completions], ca: [root.pem], proxy: "http://${login}127.0.0.1:${proxy.port}" }]`,
    })
  const secure = () => `https://localhost:${front.port}`

  it('sends and streams by a tunnel, three requests over one', async () => {
    const gateway = await through(secure())
    for (const stream of [false, true, true]) {
      const { status, text: reply } = await gateway.request('POST', '/v1/chat/completions', { ...text, stream })
      assert.equal(status, 200, reply)
      assert.equal(stream, reply.includes('data: [DONE]'))
      assert.equal(String(provider.last.body), JSON.stringify({ ...text, stream }))
    }
    await gateway.close()
    assert.doesNotMatch(provider.last.headers.join('\n'), /proxy-auth/i)
  })
  it('sends whole URLs to what is not encrypted', async () => {
    const gateway = await through(provider.url)
    const { status, text: reply } = await gateway.request('POST', '/v1/chat/completions', text)
    await gateway.close()
    assert.equal(status, 200, reply)
    assert.equal(String(provider.last.body), JSON.stringify(text))
    assert.doesNotMatch(provider.last.headers.join('\n'), /pass-of-bob|proxy-auth/i)
  })
  it('says what the proxy refuses', async () => {
    for (const [url, login, words] of [
      [secure(), 'bob:other@', /refuses the login it was shown \(40[17]\)|it answered 401/],
      [secure(), '', /wants a login \(407\)/],
      [provider.url, '', /wants a login \(407\)/],
      ['https://localhost:9', 'bob:pass-of-bob@', /opens no connection to localhost:9: it answered 403/],
    ] as const) {
      const gateway = await through(url, login)
      const { status, text: reply } = await gateway.request('POST', '/v1/chat/completions', text)
      await gateway.close()
      assert.equal(status, 502)
      assert.match(reply, words)
    }
  })
})
