import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { net } from 'guard-gateway/plugins/upstream-clients/net'
import { type RawServer, rawServer } from '../../kit/raw-server.ts'
import { connectTo, type Heard, hear } from '../../kit/upstream-client.ts'
import { hearPieces, withoutCode } from './hear-pieces.ts'
import { type Differences, laxer, stricter } from './llhttp-differences.ts'
import { type RawResponse, rawResponses } from './raw-responses.ts'

/** What Node's own client, whose parser is llhttp, makes of an answer; `refused`: it is an error for it. */
interface NodeHeard extends Heard {
  readonly refused?: true
}

describe('the thin client beside the parser of Node', () => {
  it('reads raw answers as that does, or refuses them, but for named differences', async () => {
    await using server = await rawServer()
    const found: Record<Difference, string[]> = { none: [], stricter: [], laxer: [], other: [] }
    for (const response of rawResponses) {
      const [thin, nodes] = [await heardByThin(server, response), await heardByNode(server, response)]
      found[differenceOf(thin, nodes)].push(response.name)
    }
    assert.deepEqual(found.other, [])
    assert.deepEqual(found.stricter.sort(), namesIn(stricter))
    assert.deepEqual(found.laxer.sort(), namesIn(laxer))
    assert.equal(new Set(rawResponses.map(({ name }) => name)).size, rawResponses.length)
  })

  it('uses a connection again where that does, and never one with something left over', async () => {
    await using server = await rawServer()
    for (const [name, bytes] of Object.entries(kept)) {
      const [thin, nodes] = [await askTwice(server, bytes, thinClient), await askTwice(server, bytes, nodeClient)]
      assert.deepEqual(thin, nodes, name)
    }
    for (const [name, bytes] of Object.entries(leftOver))
      assert.deepEqual(await askTwice(server, bytes, thinClient), { bodies: ['hello', 'ok'], sockets: 2 }, name)
  })

  it('reads an answer the same wherever it is cut in two, and byte by byte', async () => {
    await using server = await rawServer()
    for (const response of rawResponses) {
      const { name, bytes, method } = response
      const whole = await heardByThin(server, response)
      const pieces = bytes.match(bytes.length > MOST_CUTS ? /.{1,97}/gs : /./gs) ?? []
      assert.deepEqual(withoutCode(hearPieces(pieces, method)), withoutCode(whole), `${name}, in pieces`)
      if (bytes.length > MOST_CUTS) continue
      for (let at = 1; at < bytes.length; at++)
        assert.deepEqual(
          withoutCode(hearPieces([bytes.slice(0, at), bytes.slice(at)], method)),
          withoutCode(whole),
          `${name}, cut after ${at} bytes`,
        )
    }
  })
})

/** Most cuts of a longer answer are inside of the same long value. */
const MOST_CUTS = 500

const OK = 'HTTP/1.1 200 OK\r\n'
const LENGTH = 'content-length: 5\r\n'
const CHUNKED = 'transfer-encoding: chunked\r\n'

/** Whole answers on a connection that the server does not close. */
const kept: Readonly<Record<string, string>> = {
  'a length': `${OK}${LENGTH}\r\nhello`,
  chunks: `${OK}${CHUNKED}\r\n5\r\nhello\r\n0\r\n\r\n`,
  'chunks and a trailer': `${OK}${CHUNKED}\r\n5\r\nhello\r\n0\r\nx-sum: 1\r\n\r\n`,
  'a length of zero': `${OK}content-length: 0\r\n\r\n`,
  204: 'HTTP/1.1 204 No Content\r\n\r\n',
  304: `HTTP/1.1 304 Not Modified\r\n${LENGTH}\r\n`,
  'an informational answer before it': `HTTP/1.1 100 Continue\r\n\r\n${OK}${LENGTH}\r\nhello`,
  'connection: keep-alive': `${OK}${LENGTH}connection: keep-alive\r\n\r\nhello`,
  'connection: close': `${OK}${LENGTH}connection: close\r\n\r\nhello`,
  'close in another case': `${OK}${LENGTH}Connection: CLOSE\r\n\r\nhello`,
  'close in a list': `${OK}${LENGTH}connection: x, close\r\n\r\nhello`,
  'close beside keep-alive': `${OK}${LENGTH}connection: keep-alive\r\nconnection: close\r\n\r\nhello`,
  'a token like close': `${OK}${LENGTH}connection: closed\r\n\r\nhello`,
  'HTTP/1.0': `HTTP/1.0 200 OK\r\n${LENGTH}\r\nhello`,
  'HTTP/1.0 with keep-alive': `HTTP/1.0 200 OK\r\n${LENGTH}connection: keep-alive\r\n\r\nhello`,
  'a timeout of no seconds': `${OK}${LENGTH}keep-alive: timeout=0\r\n\r\nhello`,
  'a timeout of a minute': `${OK}${LENGTH}keep-alive: timeout=60, max=100\r\n\r\nhello`,
}

/** Bytes after the end of an answer, in the same write. */
const leftOver: Readonly<Record<string, string>> = {
  'a byte after a length': `${OK}${LENGTH}\r\nhello!`,
  'a line end after a length': `${OK}${LENGTH}\r\nhello\r\n`,
  'an answer after a length': `${OK}${LENGTH}\r\nhello${OK}${LENGTH}\r\nfalse`,
  'an answer after chunks': `${OK}${CHUNKED}\r\n5\r\nhello\r\n0\r\n\r\n${OK}${LENGTH}\r\nfalse`,
  'chunks in HTTP/1.0, which may end in another way': `HTTP/1.0 200 OK\r\nconnection: keep-alive\r\n${CHUNKED}\r\n5\r\nhello\r\n0\r\n\r\n`,
}

const namesIn = (differences: Differences): readonly string[] => Object.values(differences).flat().sort()

type Difference = 'none' | 'stricter' | 'laxer' | 'other'

/** How the clients differ about an answer; the names of errors, and what had come before one, may. */
const differenceOf = (thin: Heard, nodes: NodeHeard): Difference => {
  if (isDeepStrictEqual(thin, nodes)) return 'none'
  const isRefused = nodes.failed !== undefined || nodes.refused === true
  if (thin.ended === 'whole') return isRefused || nodes.ended === 'cut' ? 'laxer' : 'other'
  return isRefused ? 'none' : 'stricter'
}

type Ask = (method: string) => Promise<NodeHeard>

interface Client extends Disposable {
  readonly ask: Ask
}

const thinClient = ({ port }: RawServer): Client => {
  const connections = connectTo(net, port)
  return { ask: (method) => hear(connections, { method }), [Symbol.dispose]: () => connections.close() }
}

const nodeClient = ({ port }: RawServer): Client => {
  const agent = new Agent({ keepAlive: true })
  return { ask: (method) => askNode(port, method, agent), [Symbol.dispose]: () => agent.destroy() }
}

const askNode = async (port: number, method: string, agent: Agent): Promise<NodeHeard> => {
  const asking = request({ host: '127.0.0.1', port, method, path: '/v1/x', agent })
  // else Node leaves headers out from the thousandth on
  asking.maxHeadersCount = 0
  let heard: NodeHeard = {}
  asking.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    heard = heard.status === undefined ? { failed: code ?? message } : { ...heard, refused: true }
  })
  asking.on('upgrade', (_, socket) => {
    socket.destroy()
    heard = { failed: 'upgrade' }
  })
  asking.on('response', (response) => {
    heard = { status: response.statusCode ?? 0, headers: response.rawHeaders, body: '', ended: 'cut' }
    response.setEncoding('latin1').on('data', (text: string) => {
      heard = { ...heard, body: heard.body + text }
    })
    response
      .on('error', () => {})
      .on('end', () => {
        heard = { ...heard, ended: 'whole' }
      })
  })
  asking.end()
  await new Promise((resolve) => asking.on('close', resolve))
  return heard
}

const heardBy = async (
  server: RawServer,
  { bytes, method }: RawResponse,
  connect: (server: RawServer) => Client,
): Promise<NodeHeard> => {
  using client = connect(server)
  server.script((socket) => socket.end(bytes, 'latin1'))
  return await client.ask(method)
}

const heardByThin = (server: RawServer, response: RawResponse): Promise<Heard> => heardBy(server, response, thinClient)
const heardByNode = (server: RawServer, response: RawResponse): Promise<NodeHeard> =>
  heardBy(server, response, nodeClient)

/** The bodies of an answer and of the next one, and how many connections were made for them. */
const askTwice = async (server: RawServer, bytes: string, connect: (server: RawServer) => Client) => {
  const before = server.sockets.length
  using client = connect(server)
  server.script(bytes)
  const bodies = [(await client.ask('POST')).body, (await client.ask('POST')).body]
  return { bodies, sockets: server.sockets.length - before }
}
