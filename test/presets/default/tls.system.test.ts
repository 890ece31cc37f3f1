import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { main } from '../../../presets/default/main.ts'
import { type ChildGateway, guardProgram, startChildGateway } from '../../kit/child-gateway.ts'
import { fakeIo } from '../../kit/io.ts'
import { authority, expired, signed } from '../../kit/private-authority.ts'

/** A command in a process of its own: it changes whom the process trusts. */
const guard = (folder: string, env: Readonly<Record<string, string>>, ...argv: readonly string[]) =>
  new Promise<{ readonly code: number; readonly out: string; readonly err: string }>((resolve) => {
    const cache = process.env.NODE_COMPILE_CACHE
    const all = { PATH: process.env.PATH, HOME: folder, ...(cache && { NODE_COMPILE_CACHE: cache }), ...env }
    execFile(process.execPath, [...guardProgram, ...argv], { cwd: folder, env: all }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })

const statusOf = (url: string, ca: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(url)
    const options = { port, host: '127.0.0.1', servername: 'localhost', ca, path: '/api/health', agent: false }
    request(options, (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end()
  })

describe('a gateway that serves TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'guard-tls-command-'))
  let gateway: ChildGateway
  const file = (name: string, text: string) => writeFileSync(join(folder, name), text)
  before(async () => {
    file('cert.pem', signed.cert)
    file('key.pem', signed.key)
    file('authority.pem', authority)
    const config = 'server: { tls: { cert: cert.pem, key: key.pem, ca: authority.pem } }'
    gateway = await startChildGateway(folder, 'http://127.0.0.1:1', config)
  })
  after(async () => {
    await gateway.end('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  })

  it('says its address, and answers there by loopback names', async () => {
    assert.match(gateway.url, /^https:\/\/127\.0\.0\.1:\d+$/)
    assert.equal(await statusOf(gateway.url, authority), 200)
  })

  it('is called by the commands of its configuration, whatever name its certificate has', async () => {
    for (const argv of [['status'], ['replay', 'list'], ['sessions', 'list', '--json']]) {
      const { code, err } = await guard(folder, {}, ...argv)
      assert.equal(code, 0, `${argv.join(' ')}: ${err}`)
    }
    const { out } = await guard(folder, {}, 'doctor')
    assert.match(out, /a gateway \S+ answers at https:\/\/localhost:\d+/)
    assert.match(out, /TLS for models\.example, .*, until 2126-11-02/)
  })

  it('is trusted by agents that it starts, at a name of its certificate', async () => {
    const agent = `fetch(process.env.ANTHROPIC_BASE_URL + '/api/hello').then(({ status, url }) => console.log(status, url))`
    const { code, out, err } = await guard(folder, {}, 'run', '--', process.execPath, '-e', agent)
    assert.equal(code, 0, err)
    assert.match(out, /^\d{3} https:\/\/localhost:\d+\/api\/hello$/m)
  })

  it('is not trusted where nothing says whose certificate it is, and the message says what to do', async () => {
    const other = mkdtempSync(join(folder, 'other-'))
    const { port } = new URL(gateway.url)
    writeFileSync(
      join(other, 'guard-config.yml'),
      `gateway_key: ${gateway.key}\nserver: { port: ${port}, tls: { cert: ../cert.pem, key: ../key.pem } }\n`,
    )
    const refused = await guard(other, {}, 'status')
    assert.equal(refused.code, 69)
    assert.match(refused.err, /certificate that is not trusted here\. Name the authority .* server\.tls\.ca in/)
    const trusted = await guard(other, { NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem') }, 'status')
    assert.equal(trusted.code, 0, trusted.err)
    const second = await guard(other, {}, 'gateway', 'run')
    assert.match(second.err, /is taken: a Guard Gateway \S+ is running there already/)
  })

  it('takes up a certificate that is renewed while it runs', async () => {
    file('cert.pem', expired.cert)
    const deadline = Date.now() + 60_000
    let seen: unknown
    while (seen === undefined && Date.now() < deadline)
      seen = await statusOf(gateway.url, authority).then(
        () => undefined,
        (error: NodeJS.ErrnoException) => error.code,
      )
    assert.equal(seen, 'CERT_HAS_EXPIRED')
    // lines are gathered for a moment
    const renewed = /TLS certificate renewed.*\n(?:.*\n)?.*cert\.pem expired at 2020-02-01/
    while (!renewed.test(gateway.said()) && Date.now() < deadline) await new Promise(setImmediate)
    assert.match(gateway.said(), renewed)
    file('cert.pem', signed.cert)
  })
})

describe('a gateway that serves TLS on every address', () => {
  it('is found by its commands', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'guard-tls-wildcard-'))
    writeFileSync(join(folder, 'cert.pem'), signed.cert)
    writeFileSync(join(folder, 'key.pem'), signed.key)
    writeFileSync(join(folder, 'authority.pem'), authority)
    const config = 'server: { host: 0.0.0.0, tls: { cert: cert.pem, key: key.pem, ca: authority.pem } }'
    const gateway = await startChildGateway(folder, 'http://127.0.0.1:1', config)
    try {
      const { out } = await guard(folder, {}, 'doctor')
      assert.match(out, /a gateway \S+ answers at https:\/\/localhost:\d+/)
    } finally {
      await gateway.end('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('a gateway that is to serve TLS', () => {
  const folder = mkdtempSync(join(tmpdir(), 'guard-tls-start-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  const run = async (server: string) => {
    writeFileSync(join(folder, 'guard-config.yml'), `gateway_key: guard_0123456789abcdef\nserver: ${server}\n`)
    const io = fakeIo({ cwd: folder, env: {} })
    const code = await main(['gateway', 'run', '--port', '0'], io)
    return { code, err: io.errText() }
  }
  for (const [title, server, message] of [
    [
      'a file that is not there',
      '{ tls: { cert: gone.pem, key: key.pem } }',
      /server\.tls\.cert: \S*gone\.pem does not exist/,
    ],
    [
      'a certificate without a key',
      '{ tls: { cert: cert.pem } }',
      /server\.tls\.key: is missing: a certificate and its key/,
    ],
    ['a key without a certificate', '{ tls: { key: key.pem } }', /server\.tls\.cert: is missing/],
    ['an unset passphrase', '{ tls: { cert: c, key: k, passphrase: "$' + '{GUARD_TLS}" } }', /GUARD_TLS is not set/],
  ] as const) {
    it(`does not start with ${title}, and opens nothing`, async () => {
      const { code, err } = await run(server)
      assert.equal(code, 78, err)
      assert.match(err, message)
      assert.equal(err.match(/^error: /gm)?.length, 1)
      assert.deepEqual(readdirSync(folder), ['guard-config.yml'])
    })
  }

  it('may listen beyond loopback without the flag that plain HTTP needs', async () => {
    const { code, err } = await run('{ host: 192.0.2.1, tls: { cert: gone.pem, key: gone.pem } }')
    assert.equal(code, 78)
    assert.doesNotMatch(err, /HOST_NOT_LOOPBACK/)
    assert.match((await run('{ host: 192.0.2.1 }')).err, /serve TLS by server\.tls, or allow plain HTTP/)
  })
})
