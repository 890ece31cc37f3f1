import { blocks } from './blocks.ts'

/** Status, wire type, what happened, what to do about it. */
export type Entry = readonly [status: number, type: string, message: string, help: string]

/** Codes that share a status and a wire type. */
const group = <const C extends string>(
  status: number,
  type: string,
  texts: Readonly<Record<C, readonly [message: string, help: string]>>,
): Readonly<Record<C, Entry>> => {
  const entries: Record<string, Entry> = {}
  for (const [code, [message, help]] of Object.entries<readonly [string, string]>(texts))
    entries[code] = [status, type, message, help]
  return entries as Readonly<Record<C, Entry>>
}

/** Every error the gateway itself raises, by code. */
export const catalogue = {
  ...group(400, 'invalid_request_error', {
    INVALID_BODY: ['The request body cannot be used', 'Send one JSON object that a strict parser accepts.'],
    INVALID_HEADER: ['A request header cannot be used', 'Send each header once, with printable characters.'],
    INVALID_TARGET: [
      'The request target cannot be used',
      'Send a path that begins with a slash, with ids of at most 4,096 characters and percent signs that stand for UTF-8.',
    ],
    MALFORMED_REQUEST: ['The bytes are not an HTTP request', 'Send HTTP/1.1 as a strict parser reads it.'],
    INVALID_JSON: ['The text is not usable JSON', 'Check the text with a JSON parser.'],
    INVALID_YAML: ['The text is not usable YAML', 'Correct the named line.'],
    INVALID_REQUEST: ['The request does not have the expected form', 'Compare it with /openapi.json.'],
    INVALID_CURSOR: ['The cursor does not belong to this query', 'Start again without a cursor.'],
    INVALID_POLICY: ['The policy cannot be used', 'Correct the named field.'],
    INVALID_TRACE: ['The trace cannot be used', 'Correct the named field.'],
    INVALID_SPAN: ['A span cannot be used', 'Correct the named field.'],
    INVALID_EVENT: ['An event cannot be used', 'Correct the named field.'],
    USE_IMPORT: ['This is an exported trace', 'Send it to POST /api/v1/runs/import.'],
    NO_EVENT_ACCEPTED: ['No event of the batch can be used', 'See what is wrong with each in "rejected".'],
    TRACE_ID_REQUIRED: ['It is not said to which run the event belongs', 'Send trace_id on the event or the batch.'],
    INVALID_FILTER: ['A filter has a value that it cannot have', 'Correct the named filter.'],
    UNKNOWN_FORMAT: ['There is no such format', 'Use one of those named.'],
    INVALID_COMPARE: ['It is not said which two runs to compare', 'Send left and right, or trace_ids with two ids.'],
    TOO_MANY_ATTRIBUTES: ['A record has more attributes than are kept', 'Send fewer or shorter ones.'],
    INVALID_ID: ['An id cannot be used', 'Use 1 to 128 letters, digits or . _ : @ / + = -'],
    INVALID_TIME: ['A time cannot be used', 'Send nanoseconds since 1970; an end is not before its start.'],
    INVALID_FAILURE_TAG: [
      'There is no such failure tag',
      'Use loop, timeout, rate_limit, policy_block or test_failure.',
    ],
    DUPLICATE_ID: ['Two records have the same id', 'Give each record an id of its own.'],
    PARENT_CYCLE: ['A span is among its own ancestors', 'Correct the parent ids.'],
    TOO_DEEP: ['The text nests too deep', 'Nest attributes at most 32 levels.'],
    INVALID_IMPORT: ['The file cannot be imported', 'Correct the named place; nothing was imported.'],
    UNKNOWN_SCHEMA: ['The file has a schema that is not known', 'Export it again in a version named.'],
    ARTIFACT_CONTENT: ['An artifact carries its content', 'Send metadata alone: path, type, size, hash.'],
    UNKNOWN_FILTER: ['There is no such filter', 'Use one of the filters named.'],
    FILTER_UNSUPPORTED: [
      'The storage backend cannot serve this filter',
      'Leave the filter out, or use another backend.',
    ],
    PROTOCOL_VERSION: ['This revision of MCP is not served', 'Use one of those named.'],
    SESSION_REQUIRED: ['The message names no MCP session', 'Send mcp-session-id, as the answer to initialize gave it.'],
    CREDENTIAL_IN_URL: ['A key stands in the address', 'Send the key in a header: addresses reach logs.'],
  }),
  ...group(400, 'usage_error', {
    COMMAND_NOT_FOUND: ['The command cannot be started', 'Install it, or name it by its path.'],
    USAGE: ['The command line cannot be used', 'Run "guard --help" for what there is.'],
  }),
  ...group(401, 'authentication_error', {
    APPROVER_KEY_REQUIRED: [
      'The approver key is missing or wrong',
      'Send it as x-guard-approver-key; only a person should know it, never an agent.',
    ],
    LOGIN_MISSING: [
      'The upstream takes the login of the client, and the request brought none',
      'Log the agent in at its provider, and show the gateway key as x-guard-key; "guard run" and "guard setup --passthrough" do that.',
    ],
    UNAUTHORIZED: [
      'The gateway key is missing or wrong',
      'Send it as "Authorization: Bearer <key>", "x-api-key: <key>" or, beside a login of your own, "x-guard-key: <key>"; it is gateway_key in guard-config.yml, where another one takes a restart.',
    ],
  }),
  ...group(403, 'permission_error', {
    HOST_NOT_ALLOWED: [
      'This host name is not served',
      'Call the gateway by 127.0.0.1 or localhost, or list the name in server.allowed_hosts.',
    ],
    ORIGIN_NOT_ALLOWED: [
      'Requests from this web origin are refused',
      'Call the gateway from its own pages or from a program.',
    ],
  }),
  ...group(404, 'not_found_error', {
    NOT_FOUND: ['There is nothing at this path', 'Check the path and the base address.'],
    NO_UPSTREAM: [
      'No upstream serves this request',
      'Add one under upstreams in guard-config.yml, or choose another model.',
    ],
    APPROVAL_NOT_FOUND: ['There is no such approval', 'List them with GET /api/v1/mcp/approvals.'],
    SESSION_NOT_FOUND: ['There is no such session', 'List them with GET /api/sessions.'],
    RUN_NOT_FOUND: ['There is no such run', 'List them with GET /api/v1/runs.'],
    AGENT_NOT_FOUND: ['There is no such agent', 'List them with GET /api/agents.'],
    KEY_NOT_FOUND: ['The agent has no such live key', 'List them with GET /api/agents/{id}.'],
    MCP_SESSION_NOT_FOUND: [
      'There is no such MCP session',
      'Initialize again; a session belongs to one key and server.',
    ],
    MCP_SERVER_NOT_FOUND: [
      'There is no such MCP server',
      'List them with GET /api/v1/mcp/servers. One that was added to mcp.servers is there after a restart.',
    ],
    SCENARIO_NOT_FOUND: ['There is no such scenario', 'Choose one of those named.'],
    PLAYGROUND_RUN_NOT_FOUND: ['There is no such playground run', 'List them with GET /api/v1/playground/runs.'],
  }),
  ...group(405, 'invalid_request_error', {
    METHOD_NOT_ALLOWED: ['This path does not take this method', 'Use one of the methods in the allow header.'],
  }),
  ...group(406, 'invalid_request_error', {
    NOT_ACCEPTABLE: [
      'The answer has a form that the request does not take',
      'Accept application/json and text/event-stream.',
    ],
  }),
  ...group(408, 'timeout_error', {
    REQUEST_TIMEOUT: ['The request did not arrive in time', 'Send head and body without pauses.'],
  }),
  ...group(409, 'conflict_error', {
    APPROVAL_DECIDED: ['The approval is decided already', 'Its state is in "status"; a further call asks anew.'],
    APPROVAL_EXPIRED: ['The approval has expired', 'Let the agent repeat the call: that asks anew.'],
    AGENT_EXISTS: ['The agent exists already', 'Choose another id, or issue a key for the agent there is.'],
    TOO_MANY_KEYS: ['The agent has as many live keys as it may have', 'Revoke one first.'],
    SPAN_IMMUTABLE: ['The gateway wrote this span', 'Use another span id.'],
    EVENT_IMMUTABLE: ['The gateway wrote this event', 'Use another event id.'],
    TRACE_CONFLICT: ['The run belongs to another project', 'Use another trace id.'],
    TRACE_EXISTS: ['A run of this id exists already', 'Import it with on_conflict=remap, or skip it.'],
    RUN_FULL: ['The run has as many spans as it may have', 'Begin another trace.'],
    PROFILE_EXISTS: ['The profile is somebody else’s', 'Move it away, or choose another folder with --dir.'],
    PLAYGROUND_RUN_ENDED: ['The playground run has ended already', 'Start a new one.'],
    AMBIGUOUS_ID: ['Several records bear this external id', 'Use the id that begins with ses_.'],
    VERSION_CONFLICT: ['The record has changed since it was read', 'Read it again and repeat the change.'],
  }),
  ...group(409, 'guard_block', {
    PAUSED_SESSION: ['The session is paused', 'Resume it with POST /api/sessions/{id}/resume.'],
    ENDED_SESSION: [
      'A person has ended the session',
      'Begin a new session, or take that back with POST /api/sessions/{id}/resume.',
    ],
    PAUSED_AGENT: ['The agent is paused', 'Resume it with POST /api/agents/{id}/resume.'],
  }),
  ...group(413, 'request_too_large', {
    BODY_TOO_LARGE: ['The body is larger than allowed', 'Send less, or raise the limit in guard-config.yml.'],
  }),
  ...group(415, 'invalid_request_error', {
    UNSUPPORTED_MEDIA_TYPE: ['The content type is not supported', 'Send application/json.'],
    UNSUPPORTED_ENCODING: [
      'The content encoding is not supported',
      'Send plain bytes, or one of gzip, deflate, br, zstd.',
    ],
  }),
  ...group(426, 'invalid_request_error', {
    UPGRADE_REQUIRED: ['WebSockets are not served here', 'Send an ordinary HTTP request.'],
  }),
  ...group(429, 'guard_block', blocks),
  ...group(429, 'rate_limit_error', {
    TOO_MANY_PENDING: ['Too many requests of the session wait for their answers', 'Wait for some of them.'],
    PLAYGROUND_BUSY: [
      'As many playground runs wait as may',
      'Try again when some have ended: four run at once, a hundred wait.',
    ],
  }),
  ...group(431, 'invalid_request_error', {
    HEADERS_TOO_LARGE: ['The request head is larger than 32 KiB', 'Send fewer headers.'],
  }),
  ...group(500, 'api_error', {
    INTERNAL: ['The gateway failed', 'Look for the request id in the log.'],
  }),
  ...group(500, 'configuration_error', {
    DUPLICATE: ['A name was registered twice', 'Remove one of the two.'],
    MISSING_PLUGIN: ['A plugin needs another one that is not there', 'Put the named plugin before it in the preset.'],
    UNKNOWN: ['There is nothing of this name', 'Use one of the names listed.'],
    UNKNOWN_COLUMN: ['A storage table has no such column', 'Declare the column in the table.'],
    INVALID_PRICING: ['The price file cannot be used', 'Correct the named line; the last good prices stay.'],
    INVALID_CONFIG: ['The configuration cannot be used', 'Correct the named key.'],
    CONFIG_EXISTS: ['The configuration file exists already', 'Remove it first, or leave it as it is.'],
    HOST_NOT_LOOPBACK: [
      'The gateway is meant for loopback',
      'Use 127.0.0.1, or add --allow-remote if you know who can reach it.',
    ],
    PORT_TAKEN: ['The port is in use', 'Stop the other program, or choose another port with --port.'],
    DATABASE_DAMAGED: [
      'The database file is damaged or not a database',
      'Restore a backup, or name another file in storage.file; the file was not touched.',
    ],
    DATABASE_NEWER: [
      'A newer version wrote the database',
      'Install that version, or name another file in storage.file.',
    ],
    DATABASE_LOCKED: ['Another gateway uses the database', 'Stop it, or name another file in storage.file.'],
    DATABASE_UNWRITABLE: [
      'The database file cannot be opened',
      'Check the folder and its rights, or name another file in storage.file.',
    ],
  }),
  ...group(502, 'api_error', {
    UPSTREAM_REFUSED: ['The upstream refused the gateway', 'Check the credentials that are configured for it.'],
    UPSTREAM_FAILED: ['The upstream gave no usable answer', 'See what it says of itself; try again.'],
    UPSTREAM_UNREACHABLE: [
      'The upstream could not be reached',
      'Check base_url and the network; nothing was answered.',
    ],
  }),
  ...group(503, 'api_error', {
    INTERRUPTED: ['The gateway stopped before this had ended', 'Start it again.'],
  }),
  ...group(503, 'overloaded_error', {
    OVERLOADED: ['The gateway has as much work as it takes', 'Try again in a moment.'],
    GATEWAY_NOT_RUNNING: ['No gateway answers', 'Start it with "guard gateway run".'],
    SHUTTING_DOWN: ['The gateway is shutting down', 'Try again when it is up.'],
    STREAM_FULL: ['As many pages listen as may', 'Close one of them.'],
    STORAGE_BUSY: ['The record changed too often at the same time', 'Try again.'],
    STORAGE_FULL: [
      'The trace store is full: its disk, or the journal that it may have',
      'See storage in /api/health; the gateway recovers by itself.',
    ],
    STORAGE_UNAVAILABLE: ['The trace store does not answer', 'See /api/health and the log.'],
  }),
  ...group(504, 'timeout_error', {
    UPSTREAM_TIMEOUT: ['The upstream did not answer in time', 'Try again, or raise timeouts in guard-config.yml.'],
  }),
}

export type Code = keyof typeof catalogue
