import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { BufferOwnership } from '#lib/request-reader'
import { readBody } from '../../../../plugins/http/models/body-reader.ts'

const LIMIT = 1_000_000

/** What a server read, the pieces it came in, and what became of them. */
interface InboundHeaders {
  readonly body: Buffer
  readonly pieces: readonly Buffer[]
  readonly lengths: readonly number[]
}

/** Watches the pieces of a request without being one of its listeners. */
const watched = (incoming: IncomingMessage, piece: (chunk: Buffer) => void): void => {
  const emit = incoming.emit.bind(incoming)
  incoming.emit = (event: string | symbol, ...given: unknown[]) => {
    if (event === 'data') piece(given[0] as Buffer)
    return emit(event, ...given)
  }
}

describe('readBody', () => {
  let othersListen = false
  const received: InboundHeaders[] = []
  const server = createServer(async (incoming, response) => {
    const pieces: Buffer[] = []
    const lengths: number[] = []
    watched(incoming, (chunk) => {
      pieces.push(chunk)
      lengths.push(chunk.length)
    })
    if (othersListen) incoming.on('data', () => {})
    received.push({ body: await readBody(incoming, LIMIT, new BufferOwnership()), pieces, lengths })
    response.end()
  })
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  after(() => server.close())

  const post = async (body: Buffer): Promise<InboundHeaders> => {
    const { port } = server.address() as AddressInfo
    const sent = request({ port, host: '127.0.0.1', method: 'POST', headers: { 'content-length': body.length } })
    sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    await once(response, 'end')
    const [last] = received.splice(0)
    assert.ok(last)
    return last
  }
  const large = Buffer.from(Array.from({ length: 500_000 }, (_, index) => index % 251))

  it('puts pieces together and frees each of them at once', async () => {
    const { body, pieces, lengths } = await post(large)
    assert.ok(body.equals(large))
    assert.ok(pieces.length > 1)
    assert.equal(
      lengths.reduce((sum, length) => sum + length, 0),
      large.length,
    )
    assert.deepEqual(
      pieces.map(({ length }) => length),
      pieces.map(() => 0),
    )
  })

  it('leaves pieces alone to which others listen', async () => {
    othersListen = true
    const { body, pieces, lengths } = await post(large)
    othersListen = false
    assert.ok(body.equals(large))
    assert.deepEqual(
      pieces.map(({ length }) => length),
      lengths,
    )
  })

  it('takes a body of one piece as it is', async () => {
    const { body, pieces } = await post(Buffer.from('{}'))
    assert.equal(body, pieces[0])
    assert.equal(body.toString(), '{}')
  })
})
