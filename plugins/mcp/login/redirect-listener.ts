import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { html } from 'guard-gateway/lib/html'

const { createServer } = process.getBuiltinModule('node:http')

/** Somebody who waits for a browser to come back. */
export interface Listening extends AsyncDisposable {
  /** Where it is to come back to. */
  readonly redirect_uri: string
  /** What `finish` makes of the first address with this state; the browser is shown how it went. */
  redirected(state: string, finish: (address: string) => Promise<string>): Promise<string>
}

/** Listens where browsers come back to; on another port where that one is in use. */
export const listenForRedirect = async (wanted: URL): Promise<Listening> => {
  const server = createServer({ maxHeaderSize: 32_768, requestTimeout: 10_000 })
  const hostname = wanted.hostname.replace(/^\[(.*)\]$/, '$1')
  const host = hostname === 'localhost' ? '127.0.0.1' : hostname
  const listen = (port: number) => once(server.listen(port, host), 'listening')
  await listen(Number(wanted.port)).catch(() => listen(0))
  const own = new URL(wanted)
  own.port = String((server.address() as AddressInfo).port)
  return {
    redirect_uri: own.href,
    redirected: (state, finish) =>
      new Promise((resolve, reject) => {
        server.on('request', (request: IncomingMessage, response: ServerResponse) => {
          const came = addressOf(request, own)
          // other programs, and pages of other sites, may ask here, too
          if (came?.searchParams.get('state') !== state) return void answer(response, 404, 'There is nothing here.')
          finish(came.href).then(
            (done) => {
              answer(response, 200, 'You are logged in. You can close this page.', () => resolve(done))
            },
            (error: unknown) => {
              answer(response, 400, (error as Error).message, () => reject(error))
            },
          )
        })
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** The address that was asked for; undefined for another path, method or host. */
const addressOf = ({ method, url = '', headers }: IncomingMessage, own: URL): URL | undefined => {
  if (method !== 'GET' || headers.host?.toLowerCase() !== own.host || !url.startsWith('/')) return undefined
  const address = URL.parse(own.origin + url)
  return address?.pathname === own.pathname ? address : undefined
}

const answer = (response: ServerResponse, status: number, text: string, sent: () => void = () => {}): void => {
  const page = html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Guard Gateway</title><h1>Guard Gateway</h1><p>${text}</p></html>`
  if (response.closed) sent()
  else response.once('close', sent)
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      connection: 'close',
    })
    .end(String(page))
}
