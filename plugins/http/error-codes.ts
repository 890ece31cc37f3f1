import { errorCodes } from 'guard-gateway/core'

export const httpErrors = {
  ...errorCodes(400, 'invalid_request_error', {
    INVALID_TARGET: [
      'The request target cannot be used',
      'Send a path that begins with a slash, with ids of at most 4,096 characters and percent signs that stand for UTF-8.',
    ],
    ENCODED_PATH: [
      'The path encodes a letter, a digit, a slash or a mark that stands for itself',
      'Send the fixed part of the path as it is, and encode within ids alone.',
    ],
    MALFORMED_REQUEST: ['The bytes are not an HTTP request', 'Send HTTP/1.1 as a strict parser reads it.'],
    CREDENTIAL_IN_URL: ['A key stands in the address', 'Send the key in a header: addresses reach logs.'],
  }),
  ...errorCodes(400, 'invalid_request_error', {
    PROJECT_REQUIRED: ['The key is bound to several projects', 'Name one of them in the header x-guard-project-id.'],
  }),
  ...errorCodes(401, 'authentication_error', {
    KEY_REQUIRED: [
      'This needs a key, since the gateway listens beyond this machine',
      'Send one as "Authorization: Bearer <key>", or log in at /login. "guard key create" makes one; commands take it from GUARD_ACCESS_KEY.',
    ],
  }),
  ...errorCodes(403, 'permission_error', {
    SCOPE_REQUIRED: ['The key is not for this', 'Use a key with the scope named.'],
    PROJECT_NOT_ALLOWED: ['The key is bound to other projects', 'Name one of its projects, or use another key.'],
    HOST_NOT_ALLOWED: [
      'This host name is not served',
      'Call the gateway by 127.0.0.1 or localhost, or list the name in server.allowed_hosts.',
    ],
    ORIGIN_NOT_ALLOWED: [
      'Requests from this web origin are refused',
      'Call the gateway from its own pages or from a program.',
    ],
  }),
  ...errorCodes(408, 'timeout_error', {
    REQUEST_TIMEOUT: ['The request did not arrive in time', 'Send head and body without pauses.'],
  }),
  ...errorCodes(426, 'invalid_request_error', {
    UPGRADE_REQUIRED: ['WebSockets are not served here', 'Send an ordinary HTTP request.'],
  }),
  ...errorCodes(431, 'invalid_request_error', {
    HEADERS_TOO_LARGE: ['The request head is larger than 32 KiB', 'Send fewer headers.'],
  }),
  ...errorCodes(500, 'configuration_error', {
    HOST_NOT_LOOPBACK: [
      'The gateway is meant for loopback',
      'Use 127.0.0.1, or add --allow-remote if you know who can reach it.',
    ],
  }),
}
