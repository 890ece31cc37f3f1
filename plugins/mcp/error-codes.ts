import { errorCodes } from 'guard-gateway/core'

export const mcpErrors = {
  ...errorCodes(400, 'invalid_request_error', {
    PROTOCOL_VERSION: ['This revision of MCP is not served', 'Use one of those named.'],
    SESSION_REQUIRED: ['The message names no MCP session', 'Send mcp-session-id, as the answer to initialize gave it.'],
  }),
  ...errorCodes(404, 'not_found_error', {
    APPROVAL_NOT_FOUND: ['There is no such approval', 'List them with GET /api/v1/mcp/approvals.'],
    MCP_SERVER_NOT_FOUND: [
      'There is no such MCP server',
      'List them with GET /api/v1/mcp/servers. One that was added to mcp.servers is there after a restart.',
    ],
    MCP_SESSION_NOT_FOUND: [
      'There is no such MCP session',
      'Initialize again; a session belongs to one key and server.',
    ],
  }),
  ...errorCodes(406, 'invalid_request_error', {
    NOT_ACCEPTABLE: [
      'The answer has a form that the request does not take',
      'Accept application/json and text/event-stream.',
    ],
  }),
  ...errorCodes(409, 'conflict_error', {
    APPROVAL_DECIDED: ['The approval is decided already', 'Its state is in "status"; a further call asks anew.'],
    ARGUMENTS_NOT_KEPT: [
      'The arguments of this call are not on record',
      'A rule can be made while the call waits or is allowed, or where storage.full_content_logging keeps arguments.',
    ],
    RULE_NOT_WRITABLE: [
      'The rule cannot be written into the policy file',
      'Copy it from where it is shown, and change the policy by hand.',
    ],
    APPROVAL_EXPIRED: ['The approval has expired', 'Let the agent repeat the call: that asks anew.'],
    MCP_LOGIN_OFF: [
      'The MCP server has no login',
      'Set mcp.servers.<id>.login in the configuration, and start the gateway again.',
    ],
  }),
  ...errorCodes(429, 'rate_limit_error', {
    TOO_MANY_PENDING: ['Too many requests of the session wait for their answers', 'Wait for some of them.'],
  }),
  ...errorCodes(502, 'api_error', {
    MCP_LOGIN_FAILED: ['The login at the MCP server failed', 'The message says why; begin again with guard mcp login.'],
    MCP_LOGIN_NEEDED: ['Somebody must log in at the MCP server', 'Run guard mcp login with the id of the server.'],
    UPSTREAM_REFUSED: ['The upstream refused the gateway', 'Check the credentials that are configured for it.'],
    UPSTREAM_FAILED: ['The upstream gave no usable answer', 'See what it says of itself; try again.'],
  }),
}
