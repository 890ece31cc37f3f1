import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { it } from 'node:test'
import { promisify } from 'node:util'

const program = `
import { Module } from 'node:module'
import { connect } from 'node:net'
import { once } from 'node:events'
import { startGateway } from './test/kit/gateway.ts'
const loaded = () => Object.keys(Module._cache).some((file) => /node_modules.ws.lib/.test(file))
const gateway = await startGateway({ upstream: 'http://127.0.0.1:9' })
await gateway.request('POST', '/v1/responses', { model: 'm', input: 'x' })
const before = loaded()
const socket = connect(Number(new URL(gateway.url).port), '127.0.0.1')
socket.end('GET /v1/responses HTTP/1.1\\r\\nhost: localhost\\r\\nconnection: upgrade\\r\\nupgrade: websocket\\r\\nsec-websocket-version: 13\\r\\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\\r\\nauthorization: Bearer ' + gateway.key + '\\r\\n\\r\\n')
await once(socket.resume(), 'close')
console.log(JSON.stringify({ before, after: loaded() }))
await gateway.close()
`

it('loads what speaks WebSocket with the first handshake', async () => {
  const words = ['--conditions=guard-source', '--input-type=module', '-e', program]
  const cwd = new URL('../../..', import.meta.url).pathname
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd })
  assert.deepEqual(JSON.parse(stdout.trim().split('\n').at(-1) ?? ''), { before: false, after: true })
})
