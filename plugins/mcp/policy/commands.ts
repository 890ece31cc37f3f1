import type { Gateway } from 'guard-gateway/core'
import type { Command } from '#lib/command'

/** `mcp validate-policy` and `mcp explain`; both read a file and need no running gateway. Checks of the user's own plugins are known to them. */
export const policyCommands = (gateway: Gateway): readonly Command[] => [
  {
    id: 'mcp validate-policy',
    args: '<policy_file>',
    summary: 'check a policy file and run its tests',
    options: {
      '--tools <file>': 'an answer to tools/list as JSON, for warnings about tools and their arguments',
      '--strict': 'warnings fail, too',
    },
    example: [
      'guard mcp validate-policy policy.yml',
      'guard mcp validate-policy policy.yml --strict --tools tools.json',
    ],
    paged: true,
    standalone: true,
    extensible: true,
    async run(input, io) {
      const { validateFile } = await import('./command-validate.ts')
      return validateFile(gateway, input, io)
    },
  },
  {
    id: 'mcp explain',
    summary: 'say what would happen to a tool call, rule by rule',
    options: {
      '--policy <file>': 'the policy file',
      '--tool <name>': 'the tool that is called',
      '--server-id <id>': 'the server it belongs to; "test" if not said',
      '--agent <id>': 'the agent that calls; unknown if not said, as are the following',
      '--project <id>': 'the project that it calls for',
      '--session <id>': 'the session that the client names',
      '--client <name>': 'the name that the client gives itself',
      '--key <name>': 'id or name of the key that opened the session',
      '--arguments <json>': 'the arguments as JSON, or @file; {} if not said',
    },
    example: [
      'guard mcp explain --policy policy.yml --tool read_file',
      `guard mcp explain --policy policy.yml --tool read_file --arguments '{"path": "a.txt"}'`,
      'guard mcp explain --policy policy.yml --tool write_file --arguments @call.json --agent ci',
    ],
    paged: true,
    standalone: true,
    extensible: true,
    async run(input, io) {
      const { explainPolicy } = await import('./command-explain.ts')
      return explainPolicy(gateway, input, io)
    },
  },
]
