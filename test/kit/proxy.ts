import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'

/** What a proxy does with a tunnel that is asked for: opens it, with what it says then, or answers otherwise. */
export type TunnelAnswer = (client: Socket, open: (head?: string | Buffer) => void, head: string) => void

/** The port of this machine that a host leads to. */
export type Target = number | ((host: string) => number)

/** A proxy for tests: tunnels by CONNECT, and whole URLs. Whatever host is named, it leads to this machine. */
export class TestProxy {
  /** The heads of all requests, in order. */
  readonly heads: string[] = []
  readonly sockets: Socket[] = []
  readonly #server: Server
  readonly #target: Target | undefined
  readonly #secure: boolean
  /** `user:password` of who may use it; undefined: everybody. */
  login: string | undefined
  answer: TunnelAnswer = (_client, open) => open()

  /** Leads to `target`, or to the port that the request names. */
  constructor(target?: Target, identity?: { readonly cert: string; readonly key: string }) {
    this.#target = target
    this.#secure = identity !== undefined
    const welcome = (socket: Socket) => this.#welcome(socket)
    this.#server = identity === undefined ? createServer(welcome) : createSecureServer(identity, welcome)
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Its address, with a login where one is given. */
  url(login = ''): string {
    const host = this.#secure ? 'localhost' : '127.0.0.1'
    return `${this.#secure ? 'https' : 'http'}://${login === '' ? '' : `${login}@`}${host}:${this.port}`
  }

  /** What was asked for, a line each. */
  get lines(): readonly string[] {
    return this.heads.map((head) => head.slice(0, head.indexOf('\r\n')))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #welcome(client: Socket): void {
    this.sockets.push(client)
    client.on('error', () => {})
    let pending = Buffer.alloc(0)
    const read = (bytes: Buffer): void => {
      pending = Buffer.concat([pending, bytes])
      const end = pending.indexOf('\r\n\r\n')
      if (end === -1) return
      client.off('data', read)
      const head = pending.toString('latin1', 0, end + 4)
      this.heads.push(head)
      if (!this.#admits(head)) {
        client.write(
          'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="p"\r\ncontent-length: 2\r\n\r\nno',
        )
        return void client.end()
      }
      if (head.startsWith('CONNECT ')) this.#tunnel(client, head)
      else this.#forward(client, head, pending.subarray(end + 4))
    }
    client.on('data', read)
  }

  #admits(head: string): boolean {
    if (this.login === undefined) return true
    const shown = /\r\nproxy-authorization: Basic (\S+)\r\n/i.exec(head)?.[1] ?? ''
    return Buffer.from(shown, 'base64').toString() === this.login
  }

  #tunnel(client: Socket, head: string): void {
    const [, host = '', port] = /^CONNECT (\S+):(\d+) HTTP/.exec(head) ?? []
    const open = (says: string | Buffer = 'HTTP/1.1 200 Connection established\r\n\r\n'): void => {
      client.write(says)
      this.#join(client, connect(this.#port(host, Number(port)), '127.0.0.1'))
    }
    this.answer(client, open, head)
  }

  /** Sends a request on as a proxy does: its path alone, nothing for the proxy; one a connection. */
  #forward(client: Socket, head: string, rest: Buffer): void {
    const [, method, host = '', port = '80', path, more = ''] =
      /^(\S+) http:\/\/([^/]*?)(?::(\d+))?(\/\S*) HTTP\/1\.1([\s\S]*)$/.exec(head) ?? []
    if (method === undefined) return void client.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n')
    const upstream = connect(this.#port(host, Number(port)), '127.0.0.1')
    upstream.write(`${method} ${path} HTTP/1.1${more.replace(/\r\nproxy-authorization: [^\r]*/i, '')}`, 'latin1')
    upstream.write(rest)
    this.#join(client, upstream)
  }

  #port(host: string, named: number): number {
    const target = this.#target
    return typeof target === 'function' ? target(host) : (target ?? named)
  }

  #join(client: Socket, upstream: Socket): void {
    this.sockets.push(upstream)
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
    upstream.on('close', () => client.destroy())
    client.pipe(upstream)
    upstream.pipe(client)
  }
}

export const testProxy = (
  target?: Target,
  identity?: { readonly cert: string; readonly key: string },
): Promise<TestProxy> => new TestProxy(target, identity).listen()
