import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { initialize, type McpService, startMcp } from '../../kit/mcp.ts'
import { cleanUpPostgres, needsPostgres, newDatabase } from '../../kit/postgres.ts'
import { authority, signed } from '../../kit/private-authority.ts'
import { type FakeProvider, fakeProvider } from '../../kit/provider.ts'
import { chatReply } from '../../kit/replies.ts'
import { type ServerProgram, startProgram } from '../../kit/server-program.ts'
import { fronts } from './fronts.ts'

const HOST = 'guard.example'
const chat = { model: 'm-1', messages: [{ role: 'user', content: 'Hello' }] }
/** One database for both gateways, where there is a server. */
const sharedStorage = async () =>
  needsPostgres.skip === false ? { backend: 'postgres', storage: `url: "${await newDatabase()}"` } : {}
cleanUpPostgres()

for (const recipeOf of fronts) {
  const { file: name, program, readsIds } = recipeOf
  describe(`the recipe ${name} in front of two gateways`, { skip: program.absent }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'guard-scale-out-'))
    const providers: FakeProvider[] = []
    const services: McpService[] = []
    let front: ServerProgram
    const service = (index: number): McpService => services[index] as McpService

    before(async () => {
      const storage = await sharedStorage()
      for (let index = 0; index < 2; index++) {
        const provider = await fakeProvider()
        providers.push(provider)
        services.push(
          await startMcp({ ...storage, upstream: provider.url, config: `server: { allowed_hosts: [${HOST}] }` }),
        )
      }
      writeFileSync(join(folder, 'guard.pem'), signed.cert + signed.key)
      writeFileSync(join(folder, 'guard.crt'), signed.cert)
      writeFileSync(join(folder, 'guard.key'), signed.key)
      front = await startProgram(program.path, async (port) => {
        const file = join(folder, name)
        let config = recipeOf.config(folder, port)
        for (const [index, { gateway }] of services.entries())
          config = config.replaceAll(`guard${index + 1}:8787`, `127.0.0.1:${new URL(gateway.url).port}`)
        writeFileSync(file, config)
        return recipeOf.args(file, folder)
      })
    })
    after(async () => {
      await front[Symbol.asyncDispose]()
      for (const one of services) await one[Symbol.asyncDispose]()
      for (const provider of providers) await provider.close()
      rmSync(folder, { recursive: true })
    })

    const send = (
      method: string,
      path: string,
      body?: object,
      headers: Readonly<Record<string, string>> = {},
    ): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        const options = { port: front.port, host: '127.0.0.1', servername: HOST, ca: authority, agent: false }
        const asked = request(
          {
            ...options,
            method,
            path,
            headers: {
              host: HOST,
              authorization: `Bearer ${service(0).gateway.key}`,
              accept: 'application/json, text/event-stream',
              ...(body === undefined ? {} : { 'content-type': 'application/json' }),
              ...headers,
            },
          },
          resolve,
        )
        asked.on('error', reject).end(body === undefined ? undefined : JSON.stringify(body))
      })
    const status = async (answer: Promise<IncomingMessage>): Promise<number | undefined> => {
      const response = await answer
      await text(response)
      return response.statusCode
    }
    const counts = () => providers.map(({ requests }) => requests.length)
    /** Which gateways got requests while `work` ran. */
    const served = async (work: () => Promise<unknown>): Promise<readonly number[]> => {
      const first = counts()
      await work()
      return counts().map((count, index) => count - (first[index] ?? 0))
    }

    it('serves pages by TLS, and accepts forms of them', async () => {
      assert.equal(await status(send('GET', '/')), 200)
      const headers = { origin: `https://${HOST}`, 'sec-fetch-site': 'same-origin' }
      assert.equal(await status(send('POST', '/api/agents', { id: 'a-1', name: 'A' }, headers)), 201)
    })

    it('streams: what a provider has sent arrives before it sends the rest', async () => {
      const headers = { 'x-guard-session-id': 'streaming' }
      const [at] = [(await served(() => status(send('POST', '/v1/chat/completions', chat, headers)))).indexOf(1)]
      providers[at]?.script({ stall_at: 200 })
      const response = await send('POST', '/v1/chat/completions', { ...chat, stream: true }, headers)
      let got = 0
      for await (const chunk of response) {
        got += (chunk as Buffer).length
        if (got >= 200) break
      }
      assert.equal(got, 200)
      // the client has left: the model is stopped
      await providers[at]?.requests.at(-1)?.closed
      assert.ok(chatReply(true).body.length > 200)
    })

    for (const name of ['X-Guard-Session-Id', 'X-Client-Session-Id', 'X-Claude-Code-Session-Id', 'Session_Id'])
      it(`sends a session that ${name} names to one gateway, and sessions to both`, async () => {
        const used = new Set<number>()
        for (let session = 0; session < 12; session++) {
          const one = await served(async () => {
            for (let turn = 0; turn < 3; turn++) {
              const headers = { [name]: `11111111-2222-4333-8444-5555555555${10 + session}` }
              assert.equal(await status(send('POST', '/v1/chat/completions', chat, headers)), 200)
            }
          })
          assert.deepEqual([...one].sort(), [0, 3])
          used.add(one.indexOf(3))
        }
        assert.equal(used.size, 2)
      })

    const mcp = { 'mcp-protocol-version': '2025-11-25' }
    const begin = async (): Promise<string> => {
      const response = await send('POST', '/mcp/up', initialize())
      await text(response)
      assert.equal(response.statusCode, 200)
      return String(response.headers['mcp-session-id'])
    }
    const ping = (id: string) =>
      status(send('POST', '/mcp/up', { jsonrpc: '2.0', id: 1, method: 'ping' }, { ...mcp, 'mcp-session-id': id }))

    it('sends an MCP session to the gateway that began it', async () => {
      const pings = () => services.map(({ upstream }) => upstream.calls('ping').length)
      const ids: string[] = []
      for (let session = 0; session < 6; session++) ids.push(await begin())
      const used = new Set<number>()
      for (const id of ids) {
        const first = pings()
        for (let turn = 0; turn < 4; turn++) assert.equal(await ping(id), 200)
        const more = pings().map((count, index) => count - (first[index] ?? 0))
        assert.deepEqual([...more].sort(), [0, 4])
        used.add(more.indexOf(4))
      }
      assert.equal(used.size, readsIds ? 2 : 1)
    })

    it('takes a gateway out that stops: no request fails, and an MCP session of it begins anew', async () => {
      const ids = [await begin(), await begin(), await begin(), await begin()]
      await service(0).gateway.close()
      const [gone] = await served(async () => {
        for (let session = 0; session < 24; session++) {
          const headers = { 'x-guard-session-id': `after-${session}` }
          assert.equal(await status(send('POST', '/v1/chat/completions', chat, headers)), 200)
        }
      })
      assert.equal(gone, 0)
      const found = await Promise.all(ids.map(ping))
      assert.ok(found.every((code) => code === 200 || code === 404))
      if (readsIds) assert.deepEqual(new Set(found), new Set([200, 404]))
      assert.equal(await ping(await begin()), 200)
    })
  })
}
