import { both, passes, stopped } from '../expectations.ts'
import { type Expect, type McpStep, scenario } from '../scenario.ts'

const readme = { tool: 'read_file', arguments: { path: 'README.md' } }
const note = { tool: 'write_file', arguments: { path: 'note.txt', content: 'Call back.' } }
const removal = { tool: 'delete_file', arguments: { path: 'README.md' } }

const calling = (what: string, { tool, arguments: args }: typeof readme | typeof note, expect: Expect): McpStep => ({
  what,
  do: 'call',
  tool,
  arguments: args,
  expect,
})
const deciding = (what: string, action: 'allow' | 'deny', scope: 'once' | 'session'): McpStep => ({
  what,
  do: 'approve',
  action,
  scope,
  expect: { enforce: { outcome: action === 'allow' ? 'allowed' : 'denied' }, shadow: { outcome: 'none' } },
})

const confirmation = stopped('confirm', 'MCP_CONFIRM', 'Approval required')
/** Allowed by a person where the policy is enforced; in shadow mode there is no question. */
const agreed = both({ action: 'confirm', reason: 'MCP_CONFIRM', forwarded: true, outcome: 'ok' })
const asking = { version: 1, default: 'deny', rules: [{ id: 'ask', tools: ['write_file'], action: 'confirm' }] }

export const mcpAllow = scenario({
  id: 'mcp-allow',
  title: 'A call inside the rules',
  summary: 'A tool that a rule allows is called, and its server answers.',
  kind: 'mcp',
  policy: { version: 1, default: 'deny', rules: [{ id: 'read', tools: ['read_file'], action: 'allow' }] },
  steps: [
    { what: 'lists the tools', do: 'list', expect: both({ outcome: 'ok', sees: 'read_file' }) },
    calling('reads a file', readme, both({ ...passes.enforce, sees: '# Test server' })),
  ],
})

export const mcpDeny = scenario({
  id: 'mcp-deny',
  title: 'A tool that nobody may call',
  summary: 'A denied tool is not in the list, and a call of it never reaches the server.',
  kind: 'mcp',
  policy: {
    version: 1,
    default: 'allow',
    hide_denied_tools: true,
    rules: [{ id: 'no-deletes', tools: ['delete_file'], action: 'deny', message: 'Nothing is deleted here.' }],
  },
  steps: [
    {
      what: 'lists the tools',
      do: 'list',
      expect: {
        enforce: { outcome: 'ok', sees: 'read_file', lacks: 'delete_file' },
        shadow: { outcome: 'ok', sees: 'delete_file' },
      },
    },
    calling('deletes a file', removal, stopped('deny', 'MCP_DENIED', "Denied by rule 'no-deletes'")),
  ],
})

export const mcpConfirm = scenario({
  id: 'mcp-confirm',
  title: 'A call that a person lets pass once',
  summary: 'The first call asks; allowed once, one retry passes, and the next call asks anew.',
  kind: 'mcp',
  policy: asking,
  steps: [
    calling('writes a file', note, confirmation),
    deciding('somebody allows it once', 'allow', 'once'),
    calling('tries again', note, agreed),
    calling('writes it once more', note, confirmation),
  ],
})

export const mcpConfirmSession = scenario({
  id: 'mcp-confirm-session',
  title: 'A call that a person lets pass in this session',
  summary: 'Allowed for the session, the same call passes every time; with other arguments it asks.',
  kind: 'mcp',
  policy: asking,
  steps: [
    calling('writes a file', note, confirmation),
    deciding('somebody allows it for the session', 'allow', 'session'),
    calling('tries again', note, agreed),
    calling('and again', note, agreed),
    calling(
      'writes something else',
      { ...note, arguments: { path: 'note.txt', content: 'Call at once.' } },
      confirmation,
    ),
  ],
})

export const mcpConfirmDenied = scenario({
  id: 'mcp-confirm-denied',
  title: 'A call that a person denies',
  summary: 'A retry of what was denied is answered so, and nobody is asked again.',
  kind: 'mcp',
  policy: asking,
  steps: [
    calling('writes a file', note, confirmation),
    deciding('somebody denies it', 'deny', 'once'),
    calling('tries again all the same', note, {
      enforce: {
        action: 'confirm',
        reason: 'MCP_DENIED',
        forwarded: false,
        outcome: 'tool_error',
        sees: 'Denied by the user',
      },
      shadow: agreed.shadow,
    }),
  ],
})

export const mcpTransform = scenario({
  id: 'mcp-transform',
  title: 'Arguments made safe',
  summary: 'A hidden copy is removed and a large number made smaller before the server sees them.',
  kind: 'mcp',
  policy: {
    version: 1,
    default: 'deny',
    rules: [
      {
        id: 'careful-mail',
        tools: ['echo'],
        action: 'transform',
        transform: { arguments: [{ remove: '/bcc' }, { clamp: { '/copies': { max: 5 } } }] },
      },
    ],
  },
  steps: [
    {
      what: 'sends what it should not',
      do: 'call',
      tool: 'echo',
      arguments: { to: 'a@example.com', bcc: 'b@example.com', copies: 500 },
      expect: {
        enforce: { action: 'transform', forwarded: true, outcome: 'ok', sees: '"copies":5}', lacks: 'bcc' },
        shadow: { action: 'transform', forwarded: true, outcome: 'ok', sees: '"bcc":"b@example.com","copies":500' },
      },
    },
  ],
})

export const mcpRateLimit = scenario({
  id: 'mcp-rate-limit',
  title: 'Three searches an hour',
  summary: 'The fourth call is told how long to wait.',
  kind: 'mcp',
  policy: {
    version: 1,
    default: 'deny',
    rules: [
      {
        id: 'search-budget',
        tools: ['web_search'],
        action: 'rate_limit',
        limit: { calls: 3, per: '1h', key: 'session' },
      },
    ],
  },
  steps: ['first', 'second', 'third', 'fourth'].map((what) => ({
    what: `the ${what} search`,
    do: 'call',
    tool: 'web_search',
    arguments: { query: `${what} question` },
    expect: what === 'fourth' ? stopped('rate_limit', 'MCP_RATE_LIMIT', 'Retry in') : passes,
  })),
})

export const mcpShadowDeny = scenario({
  id: 'mcp-shadow-deny',
  title: 'A rule on trial',
  summary: 'The call passes, and the audit says that the rule would have denied it.',
  kind: 'mcp',
  policy: {
    version: 1,
    default: 'deny',
    rules: [{ id: 'trial', tools: ['delete_file'], action: 'shadow_deny' }],
  },
  steps: [
    calling(
      'deletes a file',
      removal,
      both({ action: 'shadow_deny', reason: 'MCP_DENIED', forwarded: true, outcome: 'ok' }),
    ),
  ],
})

export const mcpUnknownTool = scenario({
  id: 'mcp-unknown-tool',
  title: 'A tool that no rule matches',
  summary: 'With the default "confirm", what nobody thought of is asked about.',
  kind: 'mcp',
  policy: {
    version: 1,
    default: 'confirm',
    rules: [{ id: 'read', tools: ['read_file'], action: 'allow' }],
  },
  steps: [calling('reads a file', readme, passes), calling('writes one', note, confirmation)],
})
