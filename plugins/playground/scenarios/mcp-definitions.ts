import { both, passes, stopped } from '../expectations.ts'
import { scenario } from '../scenario.ts'

export const mcpInvalidArguments = scenario({
  id: 'mcp-invalid-arguments',
  title: "Arguments against the tool's schema",
  summary: 'Once the tools were listed, a call that does not fit their schemas is answered by the proxy in any mode.',
  kind: 'mcp',
  policy: { version: 1, default: 'allow', rules: [] },
  steps: [
    { what: 'lists the tools', do: 'list', expect: both({ outcome: 'ok', sees: 'read_file' }) },
    {
      what: 'reads a number',
      do: 'call',
      tool: 'read_file',
      arguments: { path: 7 },
      expect: both({
        action: 'invalid',
        reason: 'MCP_INVALID_ARGUMENTS',
        forwarded: false,
        outcome: 'tool_error',
        sees: "Invalid arguments for 'read_file'",
      }),
    },
  ],
})

export const mcpChangedTool = scenario({
  id: 'mcp-changed-tool',
  title: 'A tool that becomes another one',
  summary: 'A definition that is not the trusted one any more is asked about, though a rule allows the tool.',
  kind: 'mcp',
  policy: {
    version: 1,
    default: 'deny',
    pinning: 'confirm',
    rules: [{ id: 'changing', tools: ['changing'], action: 'allow' }],
  },
  steps: [
    { what: 'lists the tools', do: 'list', expect: both({ outcome: 'ok', sees: 'changing' }) },
    { what: 'calls one', do: 'call', tool: 'changing', arguments: {}, expect: passes },
    { what: 'lists them again: one has changed', do: 'list', expect: both({ outcome: 'ok', sees: 'changing' }) },
    {
      what: 'calls it again',
      do: 'call',
      tool: 'changing',
      arguments: {},
      expect: stopped('confirm', 'MCP_PIN_CHANGED', 'Approval required'),
    },
  ],
})
