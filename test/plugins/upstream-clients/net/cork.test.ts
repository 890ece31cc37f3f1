import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { corkForTurn } from '../../../../plugins/upstream-clients/net/cork.ts'
import { rawServer } from '../../../kit/raw-server.ts'

describe('what is written in one turn', () => {
  it('goes out when the turn ends, of all sockets one after the other', async () => {
    await using server = await rawServer()
    const sockets = [connect(server.port, '127.0.0.1'), connect(server.port, '127.0.0.1')]
    for (const socket of sockets) await once(socket, 'connect')
    for (const socket of sockets) {
      corkForTurn(socket)
      socket.write('head ')
      socket.write('body')
    }
    assert.deepEqual(
      sockets.map(({ writableLength, bytesWritten }) => [writableLength, bytesWritten]),
      [
        [9, 9],
        [9, 9],
      ],
    )
    await setImmediate()
    assert.deepEqual(
      sockets.map(({ writableCorked }) => writableCorked),
      [0, 0],
    )
    for (const socket of sockets) socket.destroy()
  })
  it('is no harm to a socket that is destroyed before', async () => {
    await using server = await rawServer()
    const socket = connect(server.port, '127.0.0.1')
    await once(socket, 'connect')
    corkForTurn(socket)
    socket.write('never sent')
    socket.destroy()
    await once(socket, 'close')
    assert.equal(socket.writableCorked, 0)
  })
})
