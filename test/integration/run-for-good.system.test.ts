import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { installed } from '../kit/installed.ts'
import { authority, signed } from '../kit/private-authority.ts'
import { type ServerProgram, startProgram } from '../kit/server-program.ts'
import { type Service, startService } from '../kit/service.ts'

const HOST = 'guard.example'
const recipe = (name: string): string =>
  readFileSync(join(import.meta.dirname, '../../examples/run-for-good', name), 'utf8')
const chat = { model: 'm-1', messages: [{ role: 'user', content: 'Hello' }] }
const TEMPORARY = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']

/** The recipes with the addresses of this test, and nothing else changed. */
const fronts = [
  {
    name: 'haproxy.cfg',
    program: installed('haproxy'),
    config: (folder: string, port: number) =>
      recipe('haproxy.cfg').replace('bind :443', `bind 127.0.0.1:${port}`).replace('/etc/haproxy/', `${folder}/`),
    args: (file: string) => ['-q', '-f', file],
  },
  {
    name: 'nginx.conf',
    program: installed('nginx'),
    config: (folder: string, port: number) => {
      const paths = TEMPORARY.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
      const site = recipe('nginx.conf').replace('listen 443', `listen 127.0.0.1:${port}`)
      return `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr; events {}
        http { access_log off; ${paths}\n${site.replaceAll('/etc/nginx/', `${folder}/`)} }\n`
    },
    args: (file: string, folder: string) => ['-p', folder, '-c', file, '-e', 'stderr'],
  },
] as const

for (const { name, program, config, args } of fronts)
  describe(`the recipe ${name} in front of one gateway`, { skip: program.absent }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'guard-front-'))
    let service: Service
    let front: ServerProgram
    before(async () => {
      service = await startService({ config: `server: { allowed_hosts: [${HOST}] }` })
      writeFileSync(join(folder, 'guard.pem'), signed.cert + signed.key)
      writeFileSync(join(folder, 'guard.crt'), signed.cert)
      writeFileSync(join(folder, 'guard.key'), signed.key)
      front = await startProgram(program.path, async (port) => {
        const file = join(folder, name)
        const behind = `127.0.0.1:${new URL(service.gateway.url).port}`
        writeFileSync(file, config(folder, port).replace('127.0.0.1:8787', behind))
        return args(file, folder)
      })
    })
    after(async () => {
      await front[Symbol.asyncDispose]()
      await service[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    })
    const send = (
      method: string,
      path: string,
      body?: object,
      more: Readonly<Record<string, string>> = {},
    ): Promise<IncomingMessage> =>
      new Promise((resolve, reject) => {
        const key = { authorization: `Bearer ${service.gateway.key}` }
        const headers = { host: HOST, 'content-type': 'application/json', ...key, ...more }
        const options = { port: front.port, host: '127.0.0.1', servername: HOST, ca: authority, agent: false }
        request({ ...options, method, path, headers }, resolve)
          .on('error', reject)
          .end(body === undefined ? undefined : JSON.stringify(body))
      })

    it('serves pages by TLS, and accepts forms of them', async () => {
      const page = await send('GET', '/')
      await text(page)
      const origin = { origin: `https://${HOST}`, 'sec-fetch-site': 'same-origin' }
      const made = await send('POST', '/api/agents', { id: 'a-1', name: 'A' }, origin)
      await text(made)
      assert.deepEqual([page.statusCode, made.statusCode], [200, 201])
    })
    it('passes a model request on, bytes and headers, and streams what has come', async () => {
      const whole = await send('POST', '/v1/chat/completions', chat, { session_id: 'sess-1' })
      assert.equal(whole.statusCode, 200)
      assert.equal(whole.headers['x-guard-decision'], 'allow')
      assert.equal(service.provider.requests.at(-1)?.body.toString(), JSON.stringify(chat))
      await text(whole)
      service.provider.script({ stall_at: 200 })
      const response = await send('POST', '/v1/chat/completions', { ...chat, stream: true })
      let got = 0
      for await (const chunk of response) {
        got += (chunk as Buffer).length
        if (got >= 200) break
      }
      assert.equal(got, 200)
      await service.provider.requests.at(-1)?.closed
    })
    it('answers the probes', async () => {
      for (const path of ['/livez', '/readyz']) {
        const answer = await send('GET', path)
        await text(answer)
        assert.equal(answer.statusCode, 200)
      }
    })
  })
