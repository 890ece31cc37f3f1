import { isUtf8 } from 'node:buffer'
import { isScanFault, type JsonScan, type JsonValue, memberIn, scanJson, sourceOf, stringIn } from '#lib/json'

/** The deepest nesting of a frame. */
const MAX_DEPTH = 128
/** The object, `params` or `result`, and what is in them: names, arguments, tools. */
const KEEP = 3

/** Names that fold to themselves and that nothing else in their alphabet is taken for. */
const PLAIN = /^[a-z0-9_$.-]*$/
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/gu

/** What a lax reader may take a name for: compatibility forms, case and invisible characters made equal. */
export const foldName = (name: string): string =>
  PLAIN.test(name) ? name : name.normalize('NFKC').replace(INVISIBLE, '').toUpperCase().toLowerCase().normalize('NFKC')

/** The first of these names, in order, that looks like one of the meant names and is not it. */
const lookAlikeAmong = (
  names: readonly { readonly name: string }[],
  canonicalNames: ReadonlyMap<string, string>,
): string | undefined => {
  for (const { name } of names) {
    const known = canonicalNames.get(foldName(name))
    if (known !== undefined && known !== name) return name
  }
}

/** Names by what they fold to. */
const byFold = (names: readonly string[]): ReadonlyMap<string, string> =>
  new Map(names.map((name) => [foldName(name), name]))

const ENVELOPE = byFold(['jsonrpc', 'id', 'method', 'params', 'result', 'error'])
const PARAMS = byFold(['name', 'arguments', '_meta', 'task', 'uri', 'cursor', 'protocolVersion', 'capabilities'])

const METHODS = new Set([
  'initialize',
  'ping',
  'tools/list',
  'tools/call',
  'resources/list',
  'resources/read',
  'resources/templates/list',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'logging/setLevel',
  'sampling/createMessage',
  'elicitation/create',
  'roots/list',
  'notifications/initialized',
  'notifications/cancelled',
  'notifications/progress',
  'notifications/message',
  'notifications/roots/list_changed',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
  'notifications/elicitation/complete',
])
const METHODS_MEANT = byFold([...METHODS])

/**
 * Reads the bytes of one message. From a client, whatever two parsers could read differently is refused;
 * from a server only what the pairing of messages needs is judged, and `duplicate` tells of the rest.
 */
export const readFrame = (raw: Buffer, from: 'client' | 'server'): Frame | FrameFault => {
  if (!isUtf8(raw)) return fault(-32700, 'The message is not valid UTF-8.')
  const text = raw.toString()
  if (text.charCodeAt(0) === 0xfeff) return fault(-32700, 'The message begins with a byte order mark.')
  const scan = scanJson(text, { keep: KEEP, max_depth: MAX_DEPTH })
  if (isScanFault(scan))
    return fault(-32700, `The message is not JSON: expected ${scan.expected} at character ${scan.at}.`)
  if (text.charCodeAt(scan.root.start) === 0x5b)
    return fault(-32600, 'Batches are not served; send one message at a time.')
  if (scan.root.members === undefined) return fault(-32600, 'A message is one JSON object.')
  const id = idOf(text, scan, from)
  const parts = partsOf(text, scan.root)
  const message =
    deepFault(scan) ??
    (from === 'client' ? ambiguity(scan) : envelopeAmbiguity(scan)) ??
    idFault(parts, from, id) ??
    shapeFault(parts, from) ??
    bodyFault(parts, from)
  if (message !== undefined)
    return { ...fault(-32600, message, id?.text), silent: isSilent(parts) && !mayHaveId(scan.root) }
  const { method, params, result, error } = parts
  const kind = method === undefined ? 'response' : id === undefined ? 'notification' : 'request'
  const { root, duplicate } = scan
  return { kind, raw, text, id: id?.text, key: id?.key, method, root, params, result, error, duplicate }
}

/** A message without an id that names a method, or one with a result or an error: it has no response. */
const isSilent = ({ id, methodValue, result, error }: Parts): boolean =>
  methodValue === undefined ? result !== undefined || error !== undefined : id === undefined

/** Something that may be meant as its id is in the message: it may be a request whose sender waits. */
const mayHaveId = ({ members = [] }: JsonValue): boolean => lookAlikeAmong(members, ID) !== undefined

const ID = byFold(['id'])

const fault = (code: FrameFault['code'], message: string, id?: string): FrameFault => ({
  kind: 'fault',
  code,
  message,
  ...(id === undefined ? {} : { id }),
})

const deepFault = ({ deep }: JsonScan): string | undefined =>
  deep ? `The message nests deeper than ${MAX_DEPTH} levels.` : undefined

/** What two parsers could read differently, in a message that is judged. */
const ambiguity = (scan: JsonScan): string | undefined => {
  if (scan.duplicate !== undefined) return `Ambiguous JSON: the member ${JSON.stringify(scan.duplicate)} appears twice.`
  const name =
    lookAlikeAmong(scan.root.members ?? [], ENVELOPE) ??
    lookAlikeAmong(memberIn(scan.root, 'params')?.value.members ?? [], PARAMS)
  return name === undefined ? undefined : `Ambiguous JSON: the member ${JSON.stringify(name)} looks like another one.`
}

/** What would leave in doubt which message answers which. */
const envelopeAmbiguity = ({ root, duplicate }: JsonScan): string | undefined => {
  const members = root.members ?? []
  const twice = duplicate !== undefined && new Set(members.map(({ name }) => name)).size < members.length
  return twice || lookAlikeAmong(members, ENVELOPE) !== undefined
    ? 'Ambiguous JSON: a member appears twice.'
    : undefined
}

interface Id {
  readonly text: string
  readonly key: string
}

const INTEGER = /^(?:0|-?[1-9][0-9]*)$/
/** As JavaScript writes integers of more than 21 digits. */
const ROUNDED = /^-?[1-9](?:\.[0-9]+)?e\+[0-9]+$/

/** The id of a message if it is a string or an integer and is there once; servers may have rounded it. */
const idOf = (text: string, { root }: JsonScan, from: 'client' | 'server'): Id | undefined => {
  const found = root.members?.filter(({ name }) => name === 'id') ?? []
  const [only] = found
  if (only === undefined || found.length > 1) return
  const written = sourceOf(text, only.value)
  const string = stringIn(text, only.value)
  if (string !== undefined) return { text: written, key: `s${string}` }
  const isNumber = INTEGER.test(written) || (from === 'server' && ROUNDED.test(written))
  return isNumber ? { text: written, key: `n${written}` } : undefined
}

/** The members of a message that JSON-RPC knows. */
interface Parts {
  readonly text: string
  readonly version: JsonValue | undefined
  readonly id: JsonValue | undefined
  readonly methodValue: JsonValue | undefined
  readonly method: string | undefined
  readonly params: JsonValue | undefined
  readonly result: JsonValue | undefined
  readonly error: JsonValue | undefined
}

const partsOf = (text: string, root: JsonValue): Parts => {
  const part = (name: string) => memberIn(root, name)?.value
  const methodValue = part('method')
  return {
    text,
    version: part('jsonrpc'),
    id: part('id'),
    methodValue,
    method: stringIn(text, methodValue),
    params: part('params'),
    result: part('result'),
    error: part('error'),
  }
}

const idFault = (parts: Parts, from: 'client' | 'server', id: Id | undefined): string | undefined => {
  if (stringIn(parts.text, parts.version) !== '2.0') return '"jsonrpc" must be "2.0".'
  if (parts.id === undefined || id !== undefined) return
  // an error about a message that the server could not read has no id to name
  const unplaced = from === 'server' && parts.error !== undefined && parts.text.charCodeAt(parts.id.start) === LETTER_N
  return unplaced ? undefined : '"id" must be a string or an integer.'
}

const shapeFault = (parts: Parts, from: 'client' | 'server'): string | undefined => {
  const { methodValue, method, result, error, id } = parts
  if (methodValue !== undefined && method === undefined) return '"method" must be a string.'
  if (result !== undefined && error !== undefined) return '"result" and "error" exclude each other.'
  const answers = result !== undefined || error !== undefined
  if (method !== undefined && answers) return 'A message with a "method" has no "result" and no "error".'
  if (method !== undefined) return undefined
  if (!answers) return 'A message has a "method", a "result" or an "error".'
  const unplaced = from === 'server' && error !== undefined
  return id === undefined && !unplaced ? 'A response needs the "id" of its request.' : undefined
}

/** A lax server may carry out what it takes for a method that is judged, blanks around it trimmed. */
const methodFault = (name: string): string | undefined =>
  METHODS_MEANT.has(foldName(name).trim())
    ? `Ambiguous JSON: the method ${JSON.stringify(name)} looks like another one.`
    : undefined

const bodyFault = ({ text, method = '', id, params }: Parts, from: 'client' | 'server'): string | undefined => {
  if (!METHODS.has(method)) return from === 'client' ? methodFault(method) : undefined
  if (params !== undefined && text.charCodeAt(params.start) !== BRACE) return `"params" of ${method} must be an object.`
  // a server may carry out what nobody waits for, and nobody would have judged it
  const isIdless = from === 'client' && id === undefined && !method.startsWith('notifications/')
  return isIdless ? `A request of ${method} needs an "id".` : undefined
}

const LETTER_N = 0x6e
const BRACE = 0x7b

/** The bytes of a JSON-RPC error; without an id where that of the request is not known. */
export const errorFrame = (id: string | undefined, code: number, message: string, data?: unknown): string => {
  const dataMember = data === undefined ? '' : `,"data":${JSON.stringify(data)}`
  const about = id === undefined ? '' : `"id":${id},`
  return `{"jsonrpc":"2.0",${about}"error":{"code":${code},"message":${JSON.stringify(message)}${dataMember}}}`
}

/** The bytes of a JSON-RPC result; `result` is JSON text. */
export const resultFrame = (id: string, result: string): string => `{"jsonrpc":"2.0","id":${id},"result":${result}}`

/** A JSON-RPC message of MCP, read once; `raw` are the bytes that came, and they leave as they came unless a part is spliced. */
export interface Frame {
  readonly kind: 'request' | 'notification' | 'response'
  readonly raw: Buffer
  /** The same as text; all places below count its characters. */
  readonly text: string
  /** Source text of the id, digit for digit; none on notifications, and on errors that a server could not place. */
  readonly id: string | undefined
  /** What requests and answers are paired by: type and value of the id. */
  readonly key: string | undefined
  readonly method: string | undefined
  /** The whole object; members are recorded three levels deep. */
  readonly root: JsonValue
  readonly params: JsonValue | undefined
  readonly result: JsonValue | undefined
  readonly error: JsonValue | undefined
  /** JSON pointer of a member that appears twice; only in frames from a server, whose inside nobody interprets unless asked to. */
  readonly duplicate: string | undefined
}

/** Why bytes are no frame that may pass, as JSON-RPC says it. The id is there when it was read without doubt. */
export interface FrameFault {
  readonly kind: 'fault'
  readonly code: -32700 | -32600
  readonly message: string
  readonly id?: string
  /** It was meant as a notification or a response, which nobody waits for an answer to. */
  readonly silent?: boolean
}
