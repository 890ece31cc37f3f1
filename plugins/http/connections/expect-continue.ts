import type { Server, ServerResponse } from 'node:http'

/** Responses to clients that wait for `100 Continue`. */
const waiting = new WeakSet<ServerResponse>()

/** Checks a request with `Expect: 100-continue` before its client sends the body. A refused client never sends it. */
export const delayContinue = (server: Server): void => {
  server.on('checkContinue', (request, response) => {
    waiting.add(response)
    server.emit('request', request, response)
  })
}

/** Sends `100 Continue` if the client waits for it. */
export const askForBody = (response: ServerResponse): void => {
  if (waiting.delete(response)) response.writeContinue()
}
