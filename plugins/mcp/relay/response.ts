import { errorFrame, type Frame } from '#lib/json-rpc'

/** A message on its way to a client, or an event of a stream that carries none. */
export interface OutgoingMessage {
  /** JSON text or its bytes. */
  readonly message?: Buffer | string
  /** The event it came as, with every byte that did not change. */
  readonly event?: Buffer
  /** The event has an id: the client can resume the stream after it. */
  readonly resumable?: boolean
  /** The message as it was read, where it is the one that came. */
  readonly frame?: Frame
}

/** The response to a message of a client, for any transport. */
export type ClientResponse =
  | { readonly form: 'none'; readonly status: number }
  | {
      readonly form: 'json'
      readonly status: number
      readonly message: Buffer | string
      readonly headers?: Readonly<Record<string, string>>
    }
  /** `events` is a list where all of them are there. */
  | { readonly form: 'sse'; readonly events: AsyncIterable<OutgoingMessage> | readonly OutgoingMessage[]; stop(): void }

/** Why a request does not reach the other side, as its sender reads it. */
export interface RequestRefusal {
  readonly message: string
  readonly code: 'MCP_DENIED' | 'MCP_CONFIRM' | 'STORAGE_UNAVAILABLE'
  readonly approval_id?: string
}

/** The `data` of an error: its code in the catalogue. */
const dataOf = (code: string) => ({ type: 'mcp_error', code })

/** The catalogue's codes for JSON-RPC numbers that need no other. */
const codes = new Map([
  [-32700, 'INVALID_JSON'],
  [-32600, 'INVALID_REQUEST'],
])

/** A JSON-RPC error as a response. `id` is source text; `code` is one of the catalogue, or that of the number if absent. */
export const errorResponse = (
  status: number,
  id: string | undefined,
  number: number,
  message: string,
  code = codes.get(number),
  headers?: Readonly<Record<string, string>>,
): ClientResponse & { form: 'json' } => ({
  form: 'json',
  status,
  message: errorFrame(id, number, message, code === undefined ? undefined : dataOf(code)),
  ...(headers === undefined ? {} : { headers }),
})

/** The error for a request that the policy stops, with the id of its approval if there is one. */
export const refusedRequest = (
  { message, code, approval_id }: RequestRefusal,
  id: string | undefined,
): ClientResponse & { form: 'json' } => ({
  form: 'json',
  status: code === 'STORAGE_UNAVAILABLE' ? 503 : 200,
  message: errorFrame(id, REFUSED, message, { ...dataOf(code), ...(approval_id === undefined ? {} : { approval_id }) }),
})

/** A server's own error. */
const REFUSED = -32000

/** A JSON-RPC result as a response; `message` is the whole message. */
export const resultResponse = (message: string): ClientResponse & { form: 'json' } => ({
  form: 'json',
  status: 200,
  message,
})

/** The result of a call that somebody must log in for. */
export const loginResponse = (id: string, message: string): ClientResponse & { form: 'json' } => {
  const text = `${message.replace(/\.?$/, '.')} The tool was not called. Tell the user.`
  const result = { content: [{ type: 'text', text }], isError: true }
  return resultResponse(`{"jsonrpc":"2.0","id":${id},"result":${JSON.stringify(result)}}`)
}
