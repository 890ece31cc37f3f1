import { Connection } from './connection.ts'
import type { ParsedReply } from './reply-reader.ts'
import type { RequestWriter } from './request-writer.ts'

/** Where the requests of a client go: always to the same port, or to another port each time. */
export type Routing = 'sticky' | 'any'

/** A client that sends one request at a time, over one keep-alive connection to each port that it uses. */
export class Client {
  readonly #connections: readonly Connection[]
  #turn = 0

  private constructor(connections: readonly Connection[]) {
    this.#connections = connections
  }

  /** `number`: that of the client, so that clients spread over the ports. */
  static async open(
    ports: readonly number[],
    writer: RequestWriter,
    number: number,
    routing: Routing = 'sticky',
  ): Promise<Client> {
    const connections: Connection[] = []
    for (const port of portsOf(ports, number, routing)) connections.push(await Connection.open(port, writer))
    return new Client(connections)
  }

  /** Sends the next request. Resolves with its reply. Rejects if a connection breaks before the reply is complete. */
  exchange(): Promise<ParsedReply> {
    const connection = this.#connections[this.#turn++ % this.#connections.length]
    if (connection === undefined) return Promise.reject(new Error('the client has no connection'))
    return connection.exchange()
  }

  close(): void {
    for (const connection of this.#connections) connection.close()
  }
}

/** The ports that a client uses, in turns. */
export const portsOf = (ports: readonly number[], number: number, routing: Routing): readonly number[] => {
  const first = ports.length === 0 ? 0 : number % ports.length
  const turned = [...ports.slice(first), ...ports.slice(0, first)]
  return routing === 'any' ? turned : turned.slice(0, 1)
}
