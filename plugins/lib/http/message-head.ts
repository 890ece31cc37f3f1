import { headerOf, type MessageHead } from 'guard-gateway/core'

const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http')

/** Names that say where a message ends, who it is for on this connection, or how its body is encoded. The gateway alone sets them. */
const READ_ONLY: ReadonlySet<string> = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])
const HANDSHAKE = 'sec-websocket-'

/** The head of a message while taps may change it. What a tap does with it cannot break the framing of the message. */
export class EditableHead implements MessageHead {
  #headers: readonly string[]
  #isSealed = false

  constructor(headers: readonly string[]) {
    this.#headers = headers
  }

  /** A copy: a plugin in JavaScript cannot change the list itself. */
  get headers(): readonly string[] {
    return [...this.#headers]
  }

  get(name: string): string | undefined {
    return headerOf(this.#headers, String(name).toLowerCase())
  }

  set(name: string, value: string): void {
    const lower = this.#checked(name, value)
    const at = indexOf(this.#headers, lower)
    if (at === -1) this.#headers = [...this.#headers, name, value]
    else {
      const rest = without(this.#headers.slice(at), lower)
      this.#headers = [...this.#headers.slice(0, at), name, value, ...rest]
    }
  }

  append(name: string, value: string): void {
    this.#checked(name, value)
    this.#headers = [...this.#headers, name, value]
  }

  remove(name: string): void {
    this.#headers = without(this.#headers, this.#checked(name, ''))
  }

  /** The head is sent: what a tap does with it later throws. */
  seal(): readonly string[] {
    this.#isSealed = true
    return this.#headers
  }

  /** The name in lower case. Node's messages name the header, never its value. */
  #checked(name: string, value: string): string {
    if (this.#isSealed)
      throw new TypeError(`The head has been sent; the header ${JSON.stringify(name)} comes too late.`)
    validateHeaderName(name)
    if (typeof value !== 'string') throw new TypeError(`The value of the header "${name}" is no text.`)
    validateHeaderValue(name, value)
    const lower = name.toLowerCase()
    if (READ_ONLY.has(lower) || lower.startsWith(HANDSHAKE))
      throw new TypeError(`The header "${lower}" frames the message: only the gateway sets it.`)
    return lower
  }
}

const indexOf = (headers: readonly string[], lower: string): number =>
  headers.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === lower)

const without = (headers: readonly string[], lower: string): string[] => {
  const retained: string[] = []
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const [name = '', value = ''] = headers.slice(index, index + 2)
    if (name.toLowerCase() !== lower) retained.push(name, value)
  }
  return retained
}
