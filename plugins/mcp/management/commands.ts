import { type Gateway, GuardError, type Plugin } from 'guard-gateway/core'
import { APPROVER_FLAG } from '#lib/approver'
import { type Command, commandKind, type Input, type Suggestion } from '#lib/command'
import { terminalLine } from '#lib/text'
import type { CommandContext, UseApi } from './command-context.ts'

/** Gives the command line commands for MCP traffic: approvals, pins and the audit's export; all query the running gateway, else its storage. */
export const mcpCommands = (asking: UseApi): Plugin => ({
  name: 'mcp-commands',
  requires: ['mcp'],
  apply(gateway) {
    gateway.registry(commandKind).add(draftCommandOf(gateway, asking))
    const now = (): number => gateway.clock.now()
    for (const { run, suggest = {}, ...command } of commands)
      gateway.registry(commandKind).add({
        ...command,
        suggestions: Object.fromEntries(
          Object.entries(suggest).map(([name, values]) => [
            name,
            ({ args }) => asking((ask) => values({ ask, now: now(), args })),
          ]),
        ),
        run: (input, io) => asking((ask) => run({ ask, input, io, now: now() })),
      })
  },
})

const draftCommandOf = (gateway: Gateway, asking: UseApi): Command => ({
  id: 'mcp draft',
  args: '[-- command...]',
  unconfigured: 'sqlite',
  summary: 'write a policy from the tools of a server and the calls on record',
  options: {
    '--server-id <id>': 'of this server; of every one whose tools are on record, if not said',
    '--since <time>': 'calls since then: an age such as 24h, today, yesterday, or a time',
    '--tools <file>': 'an answer to tools/list as JSON, in place of what is on record',
    '--env <name...>': 'with a command: gives the server a variable of the environment that holds a key',
    '--output <file>': 'write here instead of stdout',
    '--force': 'replace the file if it exists',
  },
  suggestions: {
    '--server-id': ({ args }) => asking((ask) => anyServer({ ask, now: gateway.clock.now(), args })),
  },
  example: [
    'guard mcp draft --server-id fs --output policy.yml',
    'guard mcp draft --server-id fs --since 7d',
    'guard mcp draft --server-id browser --output policy.yml -- npx -y @playwright/mcp',
  ],
  route: 'GET /api/v1/mcp/draft',
  async run(input, io) {
    const { draftCommand } = await import('../draft/command-draft.ts')
    return draftCommand(gateway, asking, input, io)
  },
})

type CommandHandler = (context: CommandContext) => Promise<number>

/** A handler, how many arguments it takes, and a text that names them. */
type Subcommand = readonly [handler: CommandHandler, least: number, most: number, wants: string]

const ofOne = (handler: CommandHandler): Subcommand => [handler, 1, 1, 'the id of one approval']

/** Runs what the first argument names, with the arguments after it; throws USAGE for others. */
const oneOf =
  (name: string, subcommands: Readonly<Record<string, Subcommand>>): CommandHandler =>
  (context) => {
    const [what = '', ...args] = context.input.args
    const known = Object.keys(subcommands)
    const found = Object.hasOwn(subcommands, what) ? subcommands[what] : undefined
    if (found === undefined)
      throw new GuardError('USAGE', `"${name}" is followed by ${known.join(', ')}, not "${terminalLine(what)}".`, {
        known,
      })
    const [handler, least, most, wants] = found
    if (args.length < least || args.length > most) throw new GuardError('USAGE', `"${name} ${what}" takes ${wants}.`)
    return handler({ ...context, input: { ...context.input, args } })
  }

interface SuggestContext extends Pick<CommandContext, 'ask' | 'now'> {
  readonly args: readonly string[]
}

interface McpCommand extends Omit<Command, 'run' | 'suggestions'> {
  readonly run: CommandHandler
  /** What is stored for an argument or a flag. */
  readonly suggest?: Readonly<Record<string, (context: SuggestContext) => Promise<readonly Suggestion[]>>>
}

const anyServer = async (context: SuggestContext) => (await import('./command-suggest.ts')).suggestServers(context)

const isRead = ({ args }: Input): boolean => args[0] === 'list' || args[0] === 'show'

/** Throws USAGE for what changes something: a page shows. */
const approvalsPage = ({ args: [what, id] }: Input): string => {
  if (what === 'show' && id !== undefined) return `/approvals/${encodeURIComponent(id)}`
  if (what === 'list') return '/mcp'
  throw new GuardError('USAGE', '--web goes with "mcp approvals list" and "mcp approvals show <id>".')
}

const pinsPage = ({ args: [what] }: Input): string => {
  if (what === 'list') return '/mcp'
  throw new GuardError('USAGE', '--web goes with "mcp pins list".')
}

const commands: readonly McpCommand[] = [
  {
    id: 'mcp approvals',
    args: '<list|show|allow|deny|undo|rule|watch> [id]',
    summary: 'list, read, allow, deny or watch the calls that wait for a person, or make a rule of one',
    options: {
      '--status <status>': 'list: pending, allowed, denied, consumed or expired',
      '--server-id <id>': 'list: of this server',
      '--limit <number>': 'list: so many at most; 50 if not said',
      '--cursor <cursor>': 'list: after those listed with this cursor',
      '--scope <scope>': 'allow: once, or session for the same call as often as it comes; once if not said',
      '--reason <text>': 'allow, deny: words that are kept with the decision; the agent reads why it is denied',
      '--argument-hash <hash>': 'allow, deny: what was looked at; nothing is decided if the arguments are others',
      '--wide': 'rule: for the same folder, domain or beginning of a command; for the same ones alone if not said',
      '--write': 'rule: write it into the policy file, comments kept',
      ...APPROVER_FLAG,
    },
    choices: {
      '--status': ['pending', 'allowed', 'denied', 'consumed', 'expired'],
      '--scope': ['once', 'session'],
    },
    suggest: {
      id: async (context) => (await import('./command-suggest.ts')).suggestApprovals(context, context.now),
      '--server-id': anyServer,
    },
    example: [
      'guard mcp approvals list --status pending',
      'guard mcp approvals allow apr_…0k3v9q00 --scope session',
      'guard mcp approvals deny apr_…0k3v9q00 --reason "not in production"',
      'guard mcp approvals rule apr_…0k3v9q00 --wide',
      'guard mcp approvals watch',
    ],
    paged: isRead,
    page: approvalsPage,
    route: 'GET /api/v1/mcp/approvals',
    run: oneOf('mcp approvals', {
      list: [async (context) => (await import('./command-approvals.ts')).listApprovals(context), 0, 0, 'no argument'],
      show: ofOne(async (context) => (await import('./command-approvals.ts')).showApproval(context)),
      allow: ofOne(async (context) => (await import('./command-approvals.ts')).decideApproval(context, 'allow')),
      deny: ofOne(async (context) => (await import('./command-approvals.ts')).decideApproval(context, 'deny')),
      rule: ofOne(async (context) => (await import('../rule-from-call/command-rule.ts')).ruleCommand(context)),
      undo: ofOne(async (context) => (await import('./command-approvals.ts')).undoApproval(context)),
      watch: [async (context) => (await import('./command-watch.ts')).watchApprovals(context), 0, 0, 'no argument'],
    }),
  },
  {
    id: 'mcp pins',
    args: '<list|accept> [...server_id_and_tools]',
    summary: 'list tools whose definition has changed, or trust them as they stand',
    options: {
      '--all': 'accept: every tool of the server',
      '--fingerprint <hash...>': 'accept: what list has shown; nothing is trusted if a definition is another by now',
      ...APPROVER_FLAG,
    },
    suggest: {
      server_id_and_tools: async (context) => (await import('./command-suggest.ts')).suggestPins(context, context.args),
    },
    example: [
      'guard mcp pins list',
      'guard mcp pins accept fs read_file --fingerprint 1f0c6d7a9b3e4852',
      'guard mcp pins accept fs --all',
    ],
    paged: isRead,
    page: pinsPage,
    route: 'GET /api/v1/mcp/servers',
    run: oneOf('mcp pins', {
      list: [async (context) => (await import('./command-pins.ts')).listPins(context), 0, 0, 'no argument'],
      accept: [
        async (context) => (await import('./command-pins.ts')).acceptPins(context),
        1,
        10_000,
        'a server and the names of its tools',
      ],
    }),
  },
  {
    id: 'mcp simulate',
    args: '<policy_file>',
    summary: 'say what a policy would have said of the calls on record; 1 if something would differ',
    options: {
      '--since <time>': 'calls since then: an age such as 24h, today, yesterday, or a time',
      '--server-id <id>': 'of this server',
      '--strict': 'exit with 1 also where it depends on arguments that are not on record',
    },
    suggest: { '--server-id': anyServer },
    example: ['guard mcp simulate policy.yml', 'guard mcp simulate policy.yml --since 7d --server-id fs'],
    paged: true,
    route: 'POST /api/v1/mcp/policies/simulate',
    run: async (context) => (await import('../simulate/command-simulate.ts')).simulateFile(context),
  },
  {
    id: 'mcp login',
    args: '[server_id]',
    summary: 'log in at an MCP server with a browser, or list the logins',
    options: {
      '--agent <id>': 'where each agent has a login of its own: which',
      '--no-browser': 'only print the address, for a browser elsewhere; then paste where it ends up',
      ...APPROVER_FLAG,
    },
    suggest: { server_id: anyServer },
    example: ['guard mcp login docs', 'guard mcp login docs --agent reviewer', 'guard mcp login'],
    run: async (context) => (await import('../login/command-login.ts')).login(context),
  },
  {
    id: 'mcp logout',
    args: '<server_id>',
    summary: 'end the login at an MCP server',
    options: { '--agent <id>': 'where each agent has a login of its own: which', ...APPROVER_FLAG },
    suggest: { server_id: anyServer },
    example: ['guard mcp logout docs', 'guard mcp logout docs --agent reviewer'],
    run: async (context) => (await import('../login/command-login.ts')).logout(context),
  },
  {
    id: 'mcp export',
    summary: 'write the audit bundle to a file, or to stdout',
    options: {
      '--format <format>': 'json or jsonl; json if not said',
      '--server-id <id>': 'of this server',
      '--since <time>': 'since then: an age such as 24h, today, yesterday, or a time',
      '--output <file>': 'write here instead of stdout',
      '--force': 'replace the file if it exists',
    },
    choices: { '--format': ['json', 'jsonl'] },
    suggest: { '--server-id': anyServer },
    example: [
      'guard mcp export --since yesterday --output audit.json',
      'guard mcp export --format jsonl --server-id fs > audit.jsonl',
    ],
    route: 'GET /api/v1/mcp/export',
    run: async (context) => (await import('./command-export.ts')).exportAudit(context),
  },
]
