import { applyEdits, type JsonValue, memberIn, removeMembers, sourceOf, stringIn } from '#lib/json'
import { type Frame, foldName } from '#lib/json-rpc'

/** Revisions of MCP that are let through, newest first. */
export const versions: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

/** The text of an `initialize`, or of its response, without the capability `tasks`: the proxy does not relay tasks. */
export const withoutTasks = (frame: Frame): string => {
  const capabilities = memberIn(frame.params ?? frame.result, 'capabilities')?.value
  return capabilities === undefined ? frame.text : applyEdits(frame.text, removeMembers(capabilities, ['tasks']))
}

const MAX_NAME = 200

/** Name and version of a client; null if it gives no name. */
export const clientOf = (frame: Frame): { readonly name: string; readonly version: string } | null => {
  const info = memberIn(frame.params, 'clientInfo')?.value
  const name = stringIn(frame.text, memberIn(info, 'name')?.value)
  const version = stringIn(frame.text, memberIn(info, 'version')?.value)
  return name === undefined ? null : { name: name.slice(0, MAX_NAME), version: (version ?? '').slice(0, MAX_NAME) }
}

/** What a server says of itself. */
export interface ServerFacts {
  readonly protocol_version: string | undefined
  /** The server sends a notification when its list of tools changes. */
  readonly announcesTools: boolean
  /** JSON text of `serverInfo`; `{}` if it gives none. */
  readonly server_info: string
  readonly instructions: string | null
}

/** Reads the response to `initialize`. */
export const serverFacts = ({ text, result }: Frame): ServerFacts => {
  const part = (name: string): JsonValue | undefined => memberIn(result, name)?.value
  const capabilities = part('capabilities')
  const info = part('serverInfo')
  const tools = memberIn(capabilities, 'tools')?.value
  return {
    protocol_version: stringIn(text, part('protocolVersion')),
    announcesTools: tools !== undefined && declares(sourceOf(text, tools), 'listChanged'),
    server_info: info?.members === undefined ? '{}' : sourceOf(text, info),
    instructions: stringIn(text, part('instructions')) ?? null,
  }
}

const declares = (json: string, name: string): boolean => {
  const value: unknown = JSON.parse(json)
  return typeof value === 'object' && value !== null && (value as Readonly<Record<string, unknown>>)[name] === true
}

const INTERPRETED = new Map(
  ['protocolVersion', 'capabilities', 'tools', 'nextCursor', 'structuredContent', 'isError'].map((name) => [
    foldName(name),
    name,
  ]),
)

/** Whether two parsers could read the result differently. Then the client might see something else than what is judged here. */
export const isAmbiguous = ({ duplicate, result }: Frame): boolean =>
  duplicate !== undefined ||
  (result?.members ?? []).some(({ name }) => (INTERPRETED.get(foldName(name)) ?? name) !== name)
