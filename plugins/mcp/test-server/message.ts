import { isJsonObject, type JsonObject, jsonObjectOf } from '#lib/json'

/** A message of JSON-RPC, as a client sends it. */
export interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params: JsonObject
  readonly result?: JsonObject
  readonly error?: { readonly message?: unknown }
}

const isId = (value: unknown): value is string | number => typeof value === 'string' || typeof value === 'number'

/** Reads one message; undefined if the text is none. */
export const readMessage = (json: string): Message | undefined => {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return undefined
  }
  if (!isJsonObject(value) || value.jsonrpc !== '2.0') return undefined
  const { id, method, params, result, error } = value
  return {
    params: jsonObjectOf(params),
    ...(isId(id) ? { id } : {}),
    ...(typeof method === 'string' ? { method } : {}),
    ...(isJsonObject(result) ? { result } : {}),
    ...(isJsonObject(error) ? { error } : {}),
  }
}

/** An answer that a request failed, with its JSON-RPC code. */
export class Failure extends Error {
  readonly code: number

  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

/** A request of the client, as JSON text of the answer to it. `result` is JSON text. */
export const answer = (id: string | number, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`

/** An error as an answer; `id` null where it could not be read. */
export const failure = (id: string | number | null, { code, message }: Failure): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })

/** A notification, or a request where there is an id. */
export const outgoing = (method: string, params: object, id?: string): string =>
  JSON.stringify({ jsonrpc: '2.0', ...(id === undefined ? {} : { id }), method, params })

/** Where what belongs to one message of the client goes. */
export interface Exchange {
  /** Sends JSON text of a message; `last` if it is the answer. */
  send(json: string, last: boolean): void
  /** Closes the way to the client; what follows waits until it is fetched. */
  release(): void
  /** Goes away without an answer. */
  drop(): void
}
