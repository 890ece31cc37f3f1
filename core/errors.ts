/** Every error the gateway itself raises: HTTP status, wire type, what happened, and what to do about it. */
export const catalogue = {
  INVALID_BODY: [
    400,
    'invalid_request_error',
    'The request body cannot be used',
    'Send one JSON object that a strict parser accepts.',
  ],
  INVALID_HEADER: [
    400,
    'invalid_request_error',
    'A request header cannot be used',
    'Send each header once, with printable characters.',
  ],
  INVALID_TARGET: [
    400,
    'invalid_request_error',
    'The request target cannot be used',
    'Send a path that begins with a slash.',
  ],
  INVALID_JSON: [400, 'invalid_request_error', 'The text is not usable JSON', 'Check the text with a JSON parser.'],
  INVALID_YAML: [400, 'invalid_request_error', 'The text is not usable YAML', 'Correct the named line.'],
  INVALID_REQUEST: [
    400,
    'invalid_request_error',
    'The request does not have the expected form',
    'Compare it with /openapi.json.',
  ],
  INVALID_CURSOR: [
    400,
    'invalid_request_error',
    'The cursor does not belong to this query',
    'Start again without a cursor.',
  ],
  INVALID_POLICY: [400, 'invalid_request_error', 'The policy cannot be used', 'Correct the named field.'],
  UNKNOWN_FILTER: [400, 'invalid_request_error', 'There is no such filter', 'Use one of the filters named.'],
  FILTER_UNSUPPORTED: [
    400,
    'invalid_request_error',
    'The storage backend cannot serve this filter',
    'Leave the filter out, or use another backend.',
  ],
  CREDENTIAL_IN_URL: [
    400,
    'invalid_request_error',
    'A key stands in the address',
    'Send the key in a header: addresses reach logs.',
  ],
  UNAUTHORIZED: [
    401,
    'authentication_error',
    'The gateway key is missing or wrong',
    'Send it as "Authorization: Bearer <key>" or "x-api-key: <key>"; it stands in guard-config.yml as gateway_key.',
  ],
  HOST_NOT_ALLOWED: [
    403,
    'permission_error',
    'This host name is not served',
    'Call the gateway by 127.0.0.1 or localhost, or list the name in server.allowed_hosts.',
  ],
  ORIGIN_NOT_ALLOWED: [
    403,
    'permission_error',
    'Requests from this web origin are refused',
    'Call the gateway from its own pages or from a program.',
  ],
  NOT_FOUND: [404, 'not_found_error', 'There is nothing at this path', 'Check the path and the base address.'],
  NO_UPSTREAM: [
    404,
    'not_found_error',
    'No upstream serves this request',
    'Add one under upstreams in guard-config.yml, or choose another model.',
  ],
  SESSION_NOT_FOUND: [404, 'not_found_error', 'There is no such session', 'List them with GET /api/sessions.'],
  AGENT_NOT_FOUND: [404, 'not_found_error', 'There is no such agent', 'List them with GET /api/agents.'],
  KEY_NOT_FOUND: [404, 'not_found_error', 'The agent has no such live key', 'List them with GET /api/agents/{id}.'],
  SCENARIO_NOT_FOUND: [404, 'not_found_error', 'There is no such scenario', 'Choose one of those named.'],
  METHOD_NOT_ALLOWED: [
    405,
    'invalid_request_error',
    'This path does not take this method',
    'Use one of the methods in the allow header.',
  ],
  PAUSED_SESSION: [409, 'guard_block', 'The session is paused', 'Resume it with POST /api/sessions/{id}/resume.'],
  PAUSED_AGENT: [409, 'guard_block', 'The agent is paused', 'Resume it with POST /api/agents/{id}/resume.'],
  AGENT_EXISTS: [
    409,
    'conflict_error',
    'The agent exists already',
    'Choose another id, or issue a key for the agent there is.',
  ],
  TOO_MANY_KEYS: [409, 'conflict_error', 'The agent has as many live keys as it may have', 'Revoke one first.'],
  AMBIGUOUS_ID: [409, 'conflict_error', 'Several records bear this external id', 'Use the id that begins with ses_.'],
  VERSION_CONFLICT: [
    409,
    'conflict_error',
    'The record has changed since it was read',
    'Read it again and repeat the change.',
  ],
  BODY_TOO_LARGE: [
    413,
    'request_too_large',
    'The body is larger than allowed',
    'Send less, or raise the limit in guard-config.yml.',
  ],
  UNSUPPORTED_MEDIA_TYPE: [415, 'invalid_request_error', 'The content type is not supported', 'Send application/json.'],
  UNSUPPORTED_ENCODING: [
    415,
    'invalid_request_error',
    'The content encoding is not supported',
    'Send plain bytes, or one of gzip, deflate, br, zstd.',
  ],
  UPGRADE_REQUIRED: [426, 'invalid_request_error', 'WebSockets are not served here', 'Send an ordinary HTTP request.'],
  INTERNAL: [500, 'api_error', 'The gateway failed', 'Look for the request id in the log.'],
  UPSTREAM_UNREACHABLE: [
    502,
    'api_error',
    'The upstream could not be reached',
    'Check base_url and the network; nothing was answered.',
  ],
  OVERLOADED: [503, 'overloaded_error', 'The gateway has as much work as it takes', 'Try again in a moment.'],
  SHUTTING_DOWN: [503, 'overloaded_error', 'The gateway is shutting down', 'Try again when it is up.'],
  STORAGE_BUSY: [503, 'overloaded_error', 'The record changed too often at the same time', 'Try again.'],
  STORAGE_FULL: [
    503,
    'overloaded_error',
    'The disk of the trace store is full',
    'Free disk space; the gateway recovers by itself.',
  ],
  STORAGE_UNAVAILABLE: [503, 'overloaded_error', 'The trace store does not answer', 'See /api/health and the log.'],
  UPSTREAM_TIMEOUT: [
    504,
    'timeout_error',
    'The upstream did not answer in time',
    'Try again, or raise timeouts in guard-config.yml.',
  ],
  LOOP_EXACT: [429, 'guard_block', 'The same request was repeated', 'Send a new instruction, or resume the session.'],
  LOOP_TOOL_CALL: [
    429,
    'guard_block',
    'The same tool call was repeated',
    'Send a new instruction, or resume the session.',
  ],
  LOOP_ERROR_RETRY: [
    429,
    'guard_block',
    'The same upstream error came again and again',
    'Wait for the cool-down, or resume the session.',
  ],
  LOOP_SEQUENCE: [
    429,
    'guard_block',
    'A sequence of requests was repeated',
    'Send a new instruction, or resume the session.',
  ],
  LIMIT_REQUESTS: [
    429,
    'guard_block',
    'The session has used its requests',
    'Raise the threshold of the rule, or begin a new session.',
  ],
  LIMIT_TOKENS: [
    429,
    'guard_block',
    'The session has used its tokens',
    'Raise the threshold of the rule, or begin a new session.',
  ],
  DUPLICATE: [500, 'configuration_error', 'A name was registered twice', 'Remove one of the two.'],
  MISSING_PLUGIN: [
    500,
    'configuration_error',
    'A plugin needs another one that is not there',
    'Put the named plugin before it in the preset.',
  ],
  UNKNOWN: [500, 'configuration_error', 'There is nothing of this name', 'Use one of the names listed.'],
  UNKNOWN_COLUMN: [
    500,
    'configuration_error',
    'A storage table has no such column',
    'Declare the column in the table.',
  ],
  USAGE: [400, 'usage_error', 'The command line cannot be used', 'Run "guard --help" for what there is.'],
  INVALID_CONFIG: [500, 'configuration_error', 'The configuration cannot be used', 'Correct the named key.'],
  CONFIG_EXISTS: [
    500,
    'configuration_error',
    'The configuration file exists already',
    'Remove it first, or leave it as it is.',
  ],
  HOST_NOT_LOOPBACK: [
    500,
    'configuration_error',
    'The gateway is meant for loopback',
    'Use 127.0.0.1, or add --allow-remote if you know who can reach it.',
  ],
  PORT_TAKEN: [
    500,
    'configuration_error',
    'The port is in use',
    'Stop the other program, or choose another port with --port.',
  ],
  DATABASE_DAMAGED: [
    500,
    'configuration_error',
    'The database file is damaged or not a database',
    'Restore a backup, or name another file in storage.file; the file was not touched.',
  ],
  DATABASE_NEWER: [
    500,
    'configuration_error',
    'A newer version wrote the database',
    'Install that version, or name another file in storage.file.',
  ],
  DATABASE_LOCKED: [
    500,
    'configuration_error',
    'Another gateway uses the database',
    'Stop it, or name another file in storage.file.',
  ],
  DATABASE_UNWRITABLE: [
    500,
    'configuration_error',
    'The database file cannot be opened',
    'Check the folder and its rights, or name another file in storage.file.',
  ],
} as const satisfies Record<string, readonly [status: number, type: string, message: string, help: string]>

export type Code = keyof typeof catalogue

/** Where and how an error came about; `detail` says what was wanted and what there is. */
export interface ErrorPlace {
  readonly cause?: unknown
  /** JSON pointer or dotted key of the part that is wrong. */
  readonly path?: string
  readonly line?: number
  readonly column?: number
  /** The names there are, where one was asked for that is not. */
  readonly known?: readonly string[]
  /** Response headers that belong to the error, for example `allow`. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An error with a stable code; its message may be shown to whoever sent the request. */
export class GuardError extends Error {
  readonly code: Code
  readonly place: ErrorPlace
  constructor(code: Code, detail?: string, place: ErrorPlace = {}) {
    super(
      detail ?? `${catalogue[code][2]}. ${catalogue[code][3]}`,
      place.cause === undefined ? undefined : { cause: place.cause },
    )
    this.name = 'GuardError'
    this.code = code
    this.place = place
  }
  get status(): number {
    return catalogue[this.code][0]
  }
  get type(): string {
    return catalogue[this.code][1]
  }
}

/** The `error` member of an error answer. */
export interface ErrorBody {
  readonly type: string
  readonly code: string
  readonly message: string
  readonly path?: string
  readonly line?: number
  readonly column?: number
  readonly known?: readonly string[]
  readonly session_id?: string
  readonly rule_id?: string
}

/** The answer's `error` member for any thrown value; what is not a GuardError says nothing of its inside. */
export const errorBody = (error: unknown): ErrorBody => {
  if (!(error instanceof GuardError)) {
    const [, type, message, help] = catalogue.INTERNAL
    return { type, code: 'INTERNAL', message: `${message}. ${help}` }
  }
  const { path, line, column, known } = error.place
  return {
    type: error.type,
    code: error.code,
    message: error.message,
    ...(path === undefined ? {} : { path }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    ...(known === undefined ? {} : { known }),
  }
}

export const statusOf = (error: unknown): number => (error instanceof GuardError ? error.status : 500)
