import type { Socket } from 'node:net'

let corked: Socket[] = []

/**
 * Holds back what is written to a socket until this turn of the event loop ends. A server that waits for work is woken by the first
 * request of a turn and still awake for the rest; spread over the turn, each would wake it anew, which costs more than the write.
 */
export const corkForTurn = (socket: Socket): void => {
  socket.cork()
  if (corked.push(socket) === 1) setImmediate(uncork)
}

const uncork = (): void => {
  const sockets = corked
  corked = []
  for (const socket of sockets) socket.uncork()
}
