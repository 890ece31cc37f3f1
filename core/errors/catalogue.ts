/** An error that a gateway can answer: HTTP status, wire type, what happened, what to do about it. A plugin that has its own adds them to `gateway.errorCodes`. */
export interface ErrorCode<C extends string = string> {
  readonly id: C
  readonly status: number
  readonly type: string
  readonly message: string
  readonly help: string
}

/** Error codes that share a status and a wire type. */
export const errorCodes = <const C extends string>(
  status: number,
  type: string,
  texts: Readonly<Record<C, readonly [message: string, help: string]>>,
): { readonly [K in C]: ErrorCode<K> } => {
  const codes: Record<string, ErrorCode> = {}
  for (const [id, [message, help]] of Object.entries<readonly [string, string]>(texts))
    codes[id] = { id, status, type, message, help }
  return codes as { readonly [K in C]: ErrorCode<K> }
}

/** Errors of the gateway, and those that several features raise. A feature keeps its own in its `error-codes.ts`. */
export const catalogue = {
  ...errorCodes(400, 'invalid_request_error', {
    INVALID_BODY: ['The request body cannot be used', 'Send one JSON object that a strict parser accepts.'],
    INVALID_HEADER: ['A request header cannot be used', 'Send each header once, with printable characters.'],
    INVALID_JSON: ['The text is not usable JSON', 'Check the text with a JSON parser.'],
    INVALID_YAML: ['The text is not usable YAML', 'Correct the named line.'],
    INVALID_REQUEST: ['The request does not have the expected form', 'Compare it with /openapi.json.'],
    INVALID_CURSOR: ['The cursor does not belong to this query', 'Start again without a cursor.'],
    INVALID_POLICY: ['The policy cannot be used', 'Correct the named field.'],
    INVALID_TRACE: ['The trace cannot be used', 'Correct the named field.'],
    INVALID_FILTER: ['A filter has a value that it cannot have', 'Correct the named filter.'],
    TOO_MANY_ATTRIBUTES: ['A record has more attributes than are kept', 'Send fewer or shorter ones.'],
    TOO_DEEP: ['The text nests too deep', 'Nest attributes at most 32 levels.'],
    UNKNOWN_FILTER: ['There is no such filter', 'Use one of the filters named.'],
  }),
  ...errorCodes(400, 'usage_error', {
    USAGE: ['The command line cannot be used', 'Run "guard --help" for what there is.'],
  }),
  ...errorCodes(401, 'authentication_error', {
    UNAUTHORIZED: [
      'The gateway key is missing or wrong',
      'Send it as "Authorization: Bearer <key>", "x-api-key: <key>" or, beside a login of your own, "x-guard-key: <key>"; it is gateway_key in guard-config.yml, where another one takes a restart.',
    ],
  }),
  ...errorCodes(404, 'not_found_error', {
    NOT_FOUND: ['There is nothing at this path', 'Check the path and the base address.'],
    NO_UPSTREAM: [
      'No upstream serves this request',
      'Add one under upstreams in guard-config.yml, or choose another model.',
    ],
    SESSION_NOT_FOUND: ['There is no such session', 'List them with GET /api/sessions.'],
  }),
  ...errorCodes(405, 'invalid_request_error', {
    METHOD_NOT_ALLOWED: ['This path does not take this method', 'Use one of the methods in the allow header.'],
  }),
  ...errorCodes(409, 'conflict_error', {
    AMBIGUOUS_ID: ['Several records bear this external id', 'Use the id that begins with ses_.'],
    VERSION_CONFLICT: ['The record has changed since it was read', 'Read it again and repeat the change.'],
  }),
  ...errorCodes(413, 'request_too_large', {
    BODY_TOO_LARGE: ['The body is larger than allowed', 'Send less, or raise the limit in guard-config.yml.'],
  }),
  ...errorCodes(415, 'invalid_request_error', {
    UNSUPPORTED_MEDIA_TYPE: ['The content type is not supported', 'Send application/json.'],
    UNSUPPORTED_ENCODING: [
      'The content encoding is not supported',
      'Send plain bytes, or one of gzip, deflate, br, zstd.',
    ],
  }),
  ...errorCodes(500, 'api_error', {
    INTERNAL: ['The gateway failed', 'Look for the request id in the log.'],
  }),
  ...errorCodes(500, 'configuration_error', {
    DUPLICATE: ['A name was registered twice', 'Remove one of the two.'],
    MISSING_PLUGIN: ['A plugin needs another one that is not there', 'Put the named plugin before it in the preset.'],
    UNKNOWN: ['There is nothing of this name', 'Use one of the names listed.'],
    UNKNOWN_COLUMN: ['A storage table has no such column', 'Declare the column in the table.'],
    INVALID_CONFIG: ['The configuration cannot be used', 'Correct the named key.'],
    CONFIG_EXISTS: ['The configuration file exists already', 'Remove it first, or leave it as it is.'],
    PORT_TAKEN: ['The port is in use', 'Stop the other program, or choose another port with --port.'],
  }),
  ...errorCodes(502, 'api_error', {
    UPSTREAM_UNREACHABLE: [
      'The upstream could not be reached',
      'Check base_url and the network; nothing was answered.',
    ],
  }),
  ...errorCodes(503, 'overloaded_error', {
    OVERLOADED: ['The gateway has as much work as it takes', 'Try again in a moment.'],
    GATEWAY_NOT_RUNNING: ['No gateway answers', 'Start it with "guard gateway run".'],
    PARSER_UNAVAILABLE: [
      'The process that reads texts takes none now, whatever the text',
      'Try again in a moment; guard_parser_refused_texts_total of /metrics says how often and why.',
    ],
    SHUTTING_DOWN: ['The gateway is shutting down', 'Try again when it is up.'],
    STORAGE_BUSY: ['The record changed too often at the same time', 'Try again.'],
    STORAGE_FULL: [
      'The trace store is full: its disk, or the journal that it may have',
      'See storage in /api/health; the gateway recovers by itself.',
    ],
    STORAGE_UNAVAILABLE: [
      'The trace store does not answer',
      'See to the storage that the message names; of a gateway that runs, /api/health and the log say more.',
    ],
  }),
  ...errorCodes(504, 'timeout_error', {
    UPSTREAM_TIMEOUT: ['The upstream did not answer in time', 'Try again, or raise timeouts in guard-config.yml.'],
  }),
}

/** What an error is made of: the name of a code of this catalogue, or one that a plugin brings. */
export type Code = keyof typeof catalogue | ErrorCode
