import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { describe, it } from 'node:test'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'
import { rawServer } from '../../../kit/raw-server.ts'
import { connectTo, hear, send } from '../../../kit/upstream-client.ts'

describe('requests of one turn of the event loop', () => {
  it('go out at its end, and not on a connection that ended meanwhile', async () => {
    await using server = await rawServer()
    const connections = connectTo(undici, server.port)
    const sockets: Socket[] = []
    const note = (message: unknown) => sockets.push((message as { readonly socket: Socket }).socket)
    channel('net.client.socket').subscribe(note)
    await hear(connections)
    const next = hear(connections)
    sockets[0]?.destroy()
    assert.equal((await next).body, 'ok')
    channel('net.client.socket').unsubscribe(note)
    assert.equal(sockets.length, 2)
    connections.close()
  })
  it('are never sent if they are stopped or closed before', async () => {
    await using server = await rawServer()
    const connections = connectTo(undici, server.port)
    const stopped = send(connections)
    stopped.exchange.stop(new Error('enough'))
    await assert.rejects(stopped.response, { message: 'enough' })
    assert.equal((await hear(connections)).body, 'ok')
    const closed = send(connections)
    connections.close()
    await assert.rejects(closed.response, { code: 'ECONNRESET' })
    assert.deepEqual([stopped.counts, closed.counts], Array(2).fill({ answered: 0, failed: 1, over: 1 }))
    assert.equal(server.requests.length, 1)
  })
})
