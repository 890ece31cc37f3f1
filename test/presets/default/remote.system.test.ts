import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { addressOf } from '../../../presets/default/config/address.ts'
import { emptyConfig } from '../../../presets/default/config/defaults.ts'
import { startChildGateway } from '../../kit/child-gateway.ts'

const NOTICE = /Only requests to 127\.0\.0\.1, localhost and \[::1\] are answered; .* in server\.allowed_hosts\./

it('a gateway on all addresses is called by a loopback name', () => {
  const server = { ...emptyConfig().server, port: 9000 }
  for (const [host, address] of [
    ['0.0.0.0', 'http://127.0.0.1:9000'],
    ['::', 'http://[::1]:9000'],
    ['192.0.2.1', 'http://192.0.2.1:9000'],
    ['10.0.0.0', 'http://10.0.0.0:9000'],
  ] as const)
    assert.equal(addressOf({ server: { ...server, host } }), address)
})

it('a gateway on all addresses prints the host names that it accepts, until some are listed', async (context) => {
  for (const [more, told] of [
    ['', true],
    [', allowed_hosts: [guard.example]', false],
  ] as const) {
    const folder = await mkdtemp(join(tmpdir(), 'guard-remote-'))
    context.after(() => rm(folder, { recursive: true }))
    const server = `server: { host: 0.0.0.0, allow_remote: true${more} }`
    const gateway = await startChildGateway(folder, 'http://127.0.0.1:9', server)
    await gateway.end('SIGTERM')
    assert.equal(NOTICE.test(gateway.said()), told)
  }
})
