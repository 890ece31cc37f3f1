import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { UpstreamClient } from '#lib/upstream-client'
import { rawServer } from '../../kit/raw-server.ts'
import { connectTo, hear } from '../../kit/upstream-client.ts'

const OK = 'HTTP/1.1 200 OK\r\n'
const TWO = 'content-length: 2\r\n\r\nok'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`

/** Heads that are refused. */
const heads: readonly (readonly [name: string, bytes: string])[] = [
  ['nonsense', 'nonsense\r\n\r\n'],
  ['nonsense without a line', 'SSH-2.0-x'],
  ['lower case in its first word', `http/1.1 200 OK\r\n${TWO}`],
  ['two spaces before its status', `HTTP/1.1  200 OK\r\n${TWO}`],
  ['a status of four digits', `HTTP/1.1 2000 OK\r\n${TWO}`],
  ['a status below 100', `HTTP/1.1 099 Odd\r\n${TWO}`],
  ['another protocol', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n'],
  ['lines without CR', `HTTP/1.1 200 OK\n${TWO}`],
  ['one line without CR', `${OK}a: b\n${TWO}`],
  ['one line without CR, and no end', `${OK}a: b\nc: d\r\n`],
  ['a CR within a value', `${OK}a: b\rc\r\n${TWO}`],
  ['a folded header', `${OK}a: b\r\n c\r\n${TWO}`],
  ['a first header that is folded', `${OK} a: b\r\n${TWO}`],
  ['a space before a colon', `${OK}Content-Length : 2\r\n\r\nok`],
  ['a line without a colon', `${OK}abc\r\n${TWO}`],
  ['a header without a name', `${OK}: b\r\n${TWO}`],
  ['a zero byte', `${OK}a: b\0\r\n${TWO}`],
  ['a control byte', `${OK}a: \x7f\r\n${TWO}`],
  ['two lengths', `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nok`],
  ['one length twice', `${OK}content-length: 2\r\ncontent-length: 2\r\n\r\nok`],
  ['a list of lengths', `${OK}content-length: 2, 2\r\n\r\nok`],
  ['a signed length', `${OK}content-length: +2\r\n\r\nok`],
  ['a negative length', `${OK}content-length: -2\r\n\r\nok`],
  ['a length in another base', `${OK}content-length: 0x2\r\n\r\nok`],
  ['a length of nothing', `${OK}content-length:\r\n\r\nok`],
  ['a length beyond counting', `${OK}content-length: 99999999999999999999999\r\n\r\nok`],
  ['chunks and a length', `${OK}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
  ['a length and chunks', `${OK}content-length: 2\r\nTransfer-Encoding: Chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n`],
  ['a coding hidden behind a control byte', `${OK}transfer-encoding: \x0bchunked\r\n\r\n0\r\n\r\n`],
  ['an informational head with a body', `HTTP/1.1 100 Go\r\ncontent-length: 2\r\n\r\nok${OK}${TWO}`],
  ['no end', `${OK}x-long: ${'a'.repeat(100_000)}`],
  ['a long head', `${OK}x-long: ${'a'.repeat(20_000)}\r\n${TWO}`],
  ['headers without end', `${OK}${'x-many: a\r\n'.repeat(20_000)}`],
  ['a beginning alone', `${OK}content-le`],
  ['nothing in it', ''],
]

/** Bodies behind a sound head that turn out broken. */
const bodies: readonly (readonly [name: string, bytes: string, body: string])[] = [
  ['a length that is not reached', `${OK}content-length: 5\r\n\r\nok`, 'ok'],
  ['chunks without the last', `${CHUNKED}2\r\nok\r\n`, 'ok'],
  ['chunks that end within the end', `${CHUNKED}2\r\nok\r\n0\r\n`, 'ok'],
  ['a chunk size that is none', `${CHUNKED}2\r\nok\r\nzz\r\n`, 'ok'],
  ['a chunk size without its line', `${CHUNKED}2\r\nok\r\nzz`, 'ok'],
  ['a negative chunk size', `${CHUNKED}-2\r\nok\r\n0\r\n\r\n`, ''],
  ['a chunk size with its base', `${CHUNKED}0x2\r\nok\r\n0\r\n\r\n`, ''],
  ['a chunk size behind a space', `${CHUNKED} 2\r\nok\r\n0\r\n\r\n`, ''],
  ['a chunk size before a space', `${CHUNKED}2 \r\nok\r\n0\r\n\r\n`, ''],
  ['a chunk size without CR', `${CHUNKED}2\nok\r\n0\r\n\r\n`, ''],
  ['a chunk size beyond counting', `${CHUNKED}fffffffffffffffff\r\nok\r\n0\r\n\r\n`, ''],
  ['a chunk longer than it says', `${CHUNKED}2\r\nokay\r\n0\r\n\r\n`, 'ok'],
  ['a chunk that ends without CR', `${CHUNKED}2\r\nok\n0\r\n\r\n`, 'ok'],
  ['a chunk that ends without CRLF', `${CHUNKED}2\r\nok0\r\n\r\n`, 'ok'],
  ['an extension with a line break', `${CHUNKED}2;a\nb\r\nok\r\n0\r\n\r\n`, ''],
  ['extensions without end', `${CHUNKED}2;${'a'.repeat(100_000)}`, ''],
  ['a trailer that is no header', `${CHUNKED}2\r\nok\r\n0\r\na b\r\n\r\n`, 'ok'],
  ['a trailer that is a length', `${CHUNKED}2\r\nok\r\n0\r\ncontent-length: 9\r\n\r\n`, 'ok'],
  ['a trailer without CR', `${CHUNKED}2\r\nok\r\n0\r\na: b\n\r\n`, 'ok'],
  ['a trailer without end', `${CHUNKED}2\r\nok\r\n0\r\na: ${'b'.repeat(100_000)}`, 'ok'],
]

/** Those of which the server has to end the connection before a fault is there. */
const unfinished = new Set([
  'a beginning alone',
  'nothing in it',
  'a length that is not reached',
  'chunks without the last',
  'chunks that end within the end',
])

export const refusesFaults = (client: UpstreamClient): void => {
  describe('refuses an answer', () => {
    for (const [name, bytes] of heads)
      it(`with ${name}, and is there for the next request`, { timeout: 60_000 }, async () => {
        await using server = await rawServer()
        const connections = connectTo(client, server.port)
        server.script((socket) => (unfinished.has(name) ? socket.end(bytes, 'latin1') : socket.write(bytes, 'latin1')))
        const heard = await hear(connections)
        // a code, by which people and records know it
        assert.match(heard.failed ?? '', /^[A-Z_]+$/, JSON.stringify(heard))
        assert.equal((await hear(connections)).body, 'ok')
        assert.equal(server.sockets.length, 2)
        connections.close()
      })
  })
  describe('breaks a body off', () => {
    for (const [name, bytes, body] of bodies)
      it(`for ${name}, and is there for the next request`, { timeout: 60_000 }, async () => {
        await using server = await rawServer()
        const connections = connectTo(client, server.port)
        server.script((socket) => (unfinished.has(name) ? socket.end(bytes, 'latin1') : socket.write(bytes, 'latin1')))
        const { headers, ...heard } = await hear(connections)
        assert.deepEqual(heard, { status: 200, body, ended: 'cut' })
        assert.equal((await hear(connections)).body, 'ok')
        assert.equal(server.sockets.length, 2)
        connections.close()
      })
  })
}
