import type { IncomingMessage } from 'node:http'
import { type ApiStyle, type Call, type Gateway, GuardError, type Identity, type Mode } from 'guard-gateway/core'
import { clientCredentials, holdsOwnKey } from '#lib/http'
import type { ReadRequest } from '#lib/request-reader'
import { DEFAULT_PROJECT } from '#lib/session'
import { bindProject } from '../admission/bound-project.ts'
import { type InboundHeaders, readInboundHeaders } from '../admission/inbound-headers.ts'
import { queryOf, withoutQueryKey } from '../admission/target.ts'
import { admissionOf, objectsAt } from './admission.ts'

const MAX_CLIENT_CHARS = 200

/** The mode in a request's header. Throws INVALID_HEADER for an unknown mode; null where the header is not honoured. */
export const modeOf = (request: IncomingMessage, honoured: boolean): Mode | null => {
  const mode = request.headers['x-guard-mode']
  if (mode === undefined) return null
  if (mode !== 'shadow' && mode !== 'enforce') {
    throw new GuardError('INVALID_HEADER', 'The header x-guard-mode cannot be used. Send shadow or enforce.', {
      path: 'x-guard-mode',
    })
  }
  return honoured ? mode : null
}

/** What is known of a request once its body is read. */
export interface RequestMetadata {
  readonly id: string
  readonly at: number
  readonly tick: number
  readonly style: ApiStyle
  readonly path: string
  readonly identity: Identity
  /** How many keys the request showed. */
  readonly key_count: number
  readonly mode_override: Mode | null
  readonly body: Buffer
}

/** Makes the call that the pipeline takes on. Member by member: copying them from one object to the next costs on the way of every request. */
export const callOf = (
  gateway: Gateway,
  request: IncomingMessage,
  metadata: RequestMetadata,
  read: ReadRequest,
): Call => {
  const received = readInboundHeaders(gateway, request.rawHeaders, metadata.key_count)
  const { headers } = received
  const { identity, style } = metadata
  const { query, keys } = queryFor(style, request.url)
  bindProject(headers, identity.projects)
  const objects = [...objectsAt(metadata.path), ...read.objects]
  const call: Call = {
    id: metadata.id,
    at: metadata.at,
    tick: metadata.tick,
    style: style.id,
    path: metadata.path,
    query,
    headers,
    raw_headers: received.raw,
    client: (headers['user-agent'] ?? '').slice(0, MAX_CLIENT_CHARS),
    identity,
    admission: admissionOf(request, metadata.path, headers, objects),
    body: metadata.body,
    envelope: read.envelope,
    conversation: read.conversation,
    retry_mark: Number(headers['x-stainless-retry-count'] ?? 0) > 0,
    mode_override: metadata.mode_override,
    project_id: DEFAULT_PROJECT,
    agent_id: identity.agent_id,
    mode: 'shadow',
    upstream: null,
    session: null,
    notes: {},
  }
  keepLogin(call, received, queryLogin(gateway, style, keys))
  return call
}

/** The query that goes on, and the keys that stood in it. */
export const queryFor = (
  style: ApiStyle | undefined,
  url = '',
): { readonly query: string; readonly keys: readonly string[] } => {
  const { target: query, keys } = withoutQueryKey(queryOf(url), style?.credential?.query)
  return { query, keys }
}

/** The client's own credentials in its query, as the header that the style has for them; never a key of the gateway. */
export const queryLogin = (
  { keys: known, secrets }: Gateway,
  style: ApiStyle | undefined,
  keys: readonly string[],
): readonly string[] => {
  const header = style?.credential?.header
  if (header === undefined || keys.length === 0) return []
  return keys
    .filter((key) => known.identify([key]) === undefined && !holdsOwnKey(secrets, key))
    .flatMap((key) => [header, key])
}

/** Puts the client's own credentials where only an upstream that passes them through looks. */
export const keepLogin = (request: object, { login }: InboundHeaders, further: readonly string[] = []): void => {
  if (login.length + further.length > 0) clientCredentials.set(request, [...login, ...further])
}
