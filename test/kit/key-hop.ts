import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream'

/** A hop on the way to a gateway that adds a key, for clients that can send none; everything else passes as it came. */
export interface KeyHop {
  readonly origin: string
  /** Where it leads; to be said before the first request. */
  lead(url: string, key: string): void
  close(): Promise<void>
}

export const keyHop = async (): Promise<KeyHop> => {
  let target: URL | undefined
  let authorization = ''
  const server = createServer((request, response) => {
    if (target === undefined) return void response.writeHead(503).end()
    const { method, url = '', headers } = request
    const onward = ask(
      { host: target.hostname, port: target.port, path: url, method, headers: { ...headers, authorization } },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        response.flushHeaders()
        pipeline(answer, response, () => {})
      },
    )
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    pipeline(request, onward, () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lead(url, key) {
      target = new URL(url)
      authorization = `Bearer ${key}`
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
