import type { Server, ServerResponse } from 'node:http'

/** Answers to clients that wait to be asked for the body of their request. */
const waiting = new WeakSet<ServerResponse>()

/** Has requests judged before their clients are asked for a body that they hold back (`Expect: 100-continue`). One that is refused never sends it. */
export const judgeBeforeBodies = (server: Server): void => {
  server.on('checkContinue', (request, response) => {
    waiting.add(response)
    server.emit('request', request, response)
  })
}

/** Asks the client for the body, if it waits for that. */
export const askForBody = (response: ServerResponse): void => {
  if (waiting.delete(response)) response.writeContinue()
}
