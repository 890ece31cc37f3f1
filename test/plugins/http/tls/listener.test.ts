import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { connect, type PeerCertificate } from 'node:tls'
import { Gateway } from 'guard-gateway/core'
import { Log } from '../../../../plugins/http/log.ts'
import { readCredentials, type TlsFiles } from '../../../../plugins/http/tls/credentials.ts'
import { TlsListener } from '../../../../plugins/http/tls/listener.ts'
import { expired, signed } from '../../../kit/private-authority.ts'

const folder = mkdtempSync(join(tmpdir(), 'guard-tls-files-'))
after(() => rmSync(folder, { recursive: true }))

const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
const otherKey = String(other.export({ format: 'pem', type: 'pkcs8' }))
const encrypted = String(
  createPrivateKey(signed.key).export({
    format: 'pem',
    type: 'pkcs8',
    cipher: 'aes-256-cbc',
    passphrase: 'open sesame',
  }),
)

let count = 0
const filesOf = (cert: string, key: string, passphrase = ''): TlsFiles => {
  const place = join(folder, String(++count))
  mkdirSync(place)
  writeFileSync(join(place, 'cert.pem'), cert)
  writeFileSync(join(place, 'key.pem'), key)
  return { cert: join(place, 'cert.pem'), key: join(place, 'key.pem'), passphrase }
}

const listening = async (files: TlsFiles) => {
  const gateway = new Gateway()
  const lines: string[] = []
  const log = new Log({ write: (text) => lines.push(text) }, () => gateway.clock.now())
  const listener = await TlsListener.open(gateway, { files, log: () => log })
  const server = createServer(listener.serverOptions(), (_request, response) => response.end('served'))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  listener.watch(server)
  // it is looked at by hand
  listener.stop()
  const { port } = server.address() as AddressInfo
  /** The end of validity of the certificate that a client is shown. */
  const served = async (servername?: string): Promise<string> => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...(servername && { servername }) })
    await once(socket, 'secureConnect')
    const { valid_to } = socket.getPeerCertificate() as PeerCertificate
    socket.destroy()
    return valid_to.slice(-8)
  }
  const logged = (): string => {
    log.flush()
    return lines.join('')
  }
  return { listener, served, logged, gateway, [Symbol.asyncDispose]: async () => void server.close() }
}

describe('a certificate', () => {
  it('is read with its key, also with an encrypted one', async () => {
    const { names, valid_until } = await readCredentials(filesOf(signed.cert, encrypted, 'open sesame'))
    assert.equal(names, 'models.example, tools.example, spans.example, guard.example, localhost')
    assert.equal(new Date(valid_until).getUTCFullYear(), 2126)
  })
  const broken = '-----BEGIN CERTIFICATE-----\nbroken\n-----END CERTIFICATE-----\n'
  const brokenKey = '-----BEGIN PRIVATE KEY-----\nbroken\n-----END PRIVATE KEY-----\n'
  for (const [title, files, message] of [
    [
      'a key of another',
      filesOf(signed.cert, otherKey),
      /^server\.tls\.key: \S+key\.pem is not the key of the certificate in \S+cert\.pem \(models\.example, /,
    ],
    [
      'an encrypted key without a passphrase',
      filesOf(signed.cert, encrypted),
      /^server\.tls\.key: \S+key\.pem is encrypted\. Put its passphrase .*\$\{GUARD_TLS_PASSPHRASE\}/,
    ],
    [
      'a wrong passphrase',
      filesOf(signed.cert, encrypted, 'wrong'),
      /^server\.tls\.key: \S+key\.pem is encrypted, and server\.tls\.passphrase does not open it\.$/,
    ],
    [
      'no certificate',
      filesOf('text', signed.key),
      /^server\.tls\.cert: \S+cert\.pem holds no certificate in PEM form/,
    ],
    [
      'a certificate as a key',
      filesOf(signed.cert, signed.cert),
      /^server\.tls\.key: \S+key\.pem holds no private key in PEM form/,
    ],
    [
      'a broken certificate',
      filesOf(broken, signed.key),
      /^server\.tls\.cert: \S+cert\.pem holds a certificate that cannot be read/,
    ],
    [
      'a broken key',
      filesOf(signed.cert, brokenKey),
      /^server\.tls\.key: \S+key\.pem holds a private key that cannot be read/,
    ],
    [
      'no file',
      { ...filesOf('', ''), cert: join(folder, 'gone.pem') },
      /^server\.tls\.cert: \S+gone\.pem does not exist\.$/,
    ],
    [
      'a folder',
      { ...filesOf(signed.cert, ''), key: folder },
      /^server\.tls\.key: \S+ is a folder; name the file in it\.$/,
    ],
  ] as const) {
    it(`is refused with ${title}, by one message that names the file`, async () => {
      await assert.rejects(readCredentials(files), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'INVALID_CONFIG')
        assert.match(error.message, message)
        assert.doesNotMatch(error.message, /open sesame|wrong\b|PRIVATE KEY-----\n/)
        return true
      })
    })
  }
})

describe('a certificate that is renewed', () => {
  it('is served from then on, by name and by address', async () => {
    const files = filesOf(expired.cert, expired.key)
    await using running = await listening(files)
    assert.equal(await running.served(), '2020 GMT')
    assert.match(running.logged(), /"warn".*cert\.pem expired at 2020-02-01T00:00:00\.000Z/)
    assert.equal(running.listener.health().status, 'expired')
    writeFileSync(files.cert, signed.cert)
    await running.listener.check()
    assert.equal(await running.served(), '2126 GMT')
    assert.equal(await running.served('localhost'), '2126 GMT')
    assert.deepEqual(running.listener.health(), {
      status: 'ok',
      names: 'models.example, tools.example, spans.example, guard.example, localhost',
      expires_at: '2126-11-02T09:21:13.000Z',
      error: null,
    })
    assert.match(running.logged(), /TLS certificate renewed: models\.example/)
  })

  it('is found behind links that are switched, as Kubernetes and certbot do', async () => {
    const [old, renewed] = [filesOf(expired.cert, expired.key), filesOf(signed.cert, signed.key)]
    const place = join(folder, 'linked')
    mkdirSync(place)
    symlinkSync(join(old.cert, '..'), join(place, 'live'))
    const files = { cert: join(place, 'live/cert.pem'), key: join(place, 'live/key.pem'), passphrase: '' }
    await using running = await listening(files)
    symlinkSync(join(renewed.cert, '..'), join(place, 'next'))
    renameSync(join(place, 'next'), join(place, 'live'))
    await running.listener.check()
    assert.equal(await running.served(), '2126 GMT')
  })

  it('is kept as it was where the new one cannot be used, and health and log say so until it can', async () => {
    const files = filesOf(signed.cert, signed.key)
    await using running = await listening(files)
    writeFileSync(files.key, otherKey)
    await running.listener.check()
    // the certificate may follow
    assert.equal(running.listener.health().status, 'ok')
    assert.doesNotMatch(running.logged(), /error/)
    await running.listener.check()
    assert.equal(running.listener.health().status, 'refused')
    assert.match(String(running.listener.health().error?.message), /key\.pem is not the key of the certificate/)
    assert.match(running.logged(), /"error".*key\.pem is not the key.*The certificate of before is kept/)
    assert.equal(await running.served(), '2126 GMT')
    rmSync(files.key)
    await running.listener.check()
    await running.listener.check()
    assert.match(String(running.listener.health().error?.message), /key\.pem does not exist/)
    writeFileSync(files.cert, expired.cert)
    writeFileSync(files.key, expired.key)
    await running.listener.check()
    assert.equal(running.listener.health().status, 'expired')
    assert.equal(await running.served(), '2020 GMT')
  })
})
