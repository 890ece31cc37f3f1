import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { type Started, startGateway } from '../../kit/gateway.ts'
import { installed } from '../../kit/installed.ts'
import { authority, signed } from '../../kit/private-authority.ts'
import { type FakeProvider, fakeProvider } from '../../kit/provider.ts'
import { type ServerProgram, startProgram } from '../../kit/server-program.ts'

const nginx = installed('nginx')
const HOST = 'guard.example'

/** A gateway behind nginx, which ends TLS; `host` is what nginx says in the header `host`. */
const stage = async (folder: string, server: string, host: string, provider: FakeProvider) => {
  const gateway = await startGateway({ folder, upstream: provider.url, config: `server: { ${server} }` })
  await Promise.all([writeFile(join(folder, 'cert.pem'), signed.cert), writeFile(join(folder, 'key.pem'), signed.key)])
  const front = await startProgram(nginx.path, async (port) => {
    await writeFile(join(folder, 'nginx.conf'), nginxConfig(folder, port, gateway.url, host))
    return ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', 'stderr']
  })
  return { gateway, front }
}

const nginxConfig = (folder: string, port: number, url: string, host: string): string => `
daemon off; master_process off; worker_processes 1; pid ${folder}/nginx.pid; error_log stderr;
events { worker_connections 64; }
http {
  access_log off;
  client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi; scgi_temp_path ${folder}/scgi;
  server {
    listen 127.0.0.1:${port} ssl;
    server_name ${HOST};
    ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
    location / {
      proxy_pass ${url};
      proxy_http_version 1.1;
      proxy_buffering off;
      proxy_set_header Connection "";
      proxy_set_header Host ${host};
      proxy_set_header X-Forwarded-Proto https;
    }
  }
}
`

for (const [name, server, host, origin] of [
  ['names the host that was asked for', `allowed_hosts: [${HOST}]`, '$host', `https://${HOST}`],
  ['names the host with its port', `allowed_hosts: [${HOST}]`, '$http_host', ''],
  [
    'names its own address of the gateway',
    'allowed_origins: ["https://guard.example:8443"]',
    '$proxy_host',
    'https://guard.example:8443',
  ],
] as const)
  describe(`pages behind a real nginx that ends TLS and ${name}`, { skip: nginx.absent }, () => {
    let folder = ''
    let provider: FakeProvider
    let gateway: Started
    let front: ServerProgram
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), 'guard-nginx-'))
      provider = await fakeProvider()
      ;({ gateway, front } = await stage(folder, server, host, provider))
    })
    after(async () => {
      await front[Symbol.asyncDispose]()
      await gateway.close()
      await provider.close()
      await rm(folder, { recursive: true })
    })
    const own = () => origin || `https://${HOST}:${front.port}`
    /** As a browser asks from a page of the gateway. */
    const answer = async (method: string, path: string, body = '', more: RequestOptions['headers'] = {}) => {
      const sent = request({
        host: '127.0.0.1',
        port: front.port,
        servername: HOST,
        ca: authority,
        method,
        path,
        agent: false,
        headers: {
          host: `${HOST}:${front.port}`,
          ...(method === 'GET' ? {} : { origin: own(), 'content-length': Buffer.byteLength(body) }),
          'sec-fetch-site': 'same-origin',
          ...more,
        },
      }).end(body)
      const [reply] = (await once(sent, 'response')) as [IncomingMessage]
      return reply
    }
    const asked = async (...given: Parameters<typeof answer>) => {
      const reply = await answer(...given)
      return { status: reply.statusCode, location: reply.headers.location, text: await text(reply) }
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const json = { 'content-type': 'application/json' }
    const model = () => ({ ...json, authorization: `Bearer ${gateway.key}`, 'x-guard-session-id': 'mine' })
    const chat = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello.' }] })

    it('are served, and lead nowhere else', async () => {
      for (const path of ['/', '/sessions', '/policies', '/replay', '/mcp', '/playground', '/docs']) {
        const got = await asked('GET', path)
        assert.equal(got.status, 200, path)
        assert.doesNotMatch(got.text, /(?:href|action|src)="http:\/\//, path)
      }
      assert.equal((await asked('GET', '/replay/')).location, '/replay')
    })
    it('change rules by a form and by PUT', async () => {
      const put = await asked(
        'PUT',
        '/api/policies/default',
        JSON.stringify({ mode: 'enforce', preset: 'default' }),
        json,
      )
      assert.equal(put.status, 200, put.text)
      const page = await asked('GET', '/policies/default')
      assert.match(page.text, /enforce/)
    })
    it('pause and resume a session by forms', async () => {
      assert.equal((await asked('POST', '/v1/chat/completions', chat, model())).status, 200)
      const { sessions } = JSON.parse((await asked('GET', '/api/sessions')).text)
      const id = sessions[0].id
      for (const [act, status] of [
        ['pause', 409],
        ['resume', 200],
      ] as const) {
        const done = await asked('POST', `/ui/sessions/${id}/${act}`, '', form)
        assert.equal(done.status, 303, done.text)
        assert.match(done.location ?? '', /^\/sessions\//)
        assert.equal((await asked('POST', '/v1/chat/completions', chat, model())).status, status, act)
      }
    })
    it('are told what happens as it happens', async () => {
      const stream = await answer('GET', '/api/v1/stream', '', { accept: 'text/event-stream' })
      assert.equal(stream.statusCode, 200)
      assert.match(stream.headers['content-type'] ?? '', /event-stream/)
      const heard = once(stream.setEncoding('utf8'), 'data')
      await asked('POST', '/v1/chat/completions', chat, model())
      const [first] = await heard
      assert.ok(String(first).length > 0)
      stream.destroy()
    })
    it('are closed to pages of others', async () => {
      for (const more of [{ origin: 'https://evil.example' }, { origin: 'null' }, { 'sec-fetch-site': 'cross-site' }]) {
        const got = await asked('PUT', '/api/policies/default', '{"mode":"shadow"}', { ...json, ...more })
        assert.equal(got.status, 403, got.text)
      }
    })
    it('show commands with the address that they were asked at', async () => {
      const [, first = ''] = /href="(\/docs\/(?!guide)[^"]+)"/.exec((await asked('GET', '/docs')).text) ?? []
      const { status, text: shown } = await asked('GET', first)
      assert.equal(status, 200)
      assert.match(shown, /curl [^<]*https:\/\//)
    })
  })
