import type { Plugin } from 'guard-gateway/core'
import { APPROVER_FLAG } from '#lib/approver'
import { type AskJson, type Command, type CommandContext, commandKind, type Input } from '#lib/command'
import { filtered } from './command-context.ts'
import type { Suggest } from './command-suggest.ts'

/** Where commands find sessions and agents. */
export interface SessionCommandOptions {
  /** Gives `work` the running gateway, or one that is opened for it. */
  readonly asking: <T>(work: (ask: AskJson) => Promise<T>) => Promise<T>
}

/** Gives the command line `sessions …` and `agents …`. */
export const sessionCommands = ({ asking }: SessionCommandOptions): Plugin => ({
  name: 'session-commands',
  requires: ['sessions'],
  apply(gateway) {
    const now = (): number => gateway.clock.now()
    for (const { run, page, suggest = {}, ...command } of commands)
      gateway.registry(commandKind).add({
        ...command,
        ...(page === undefined ? {} : { page: (input: Input) => asking((ask) => page({ ask, input })) }),
        suggestions: Object.fromEntries(
          Object.entries(suggest).map(([name, values]) => [
            name,
            ({ args }) => asking(async (ask) => (await values())(ask, now(), args)),
          ]),
        ),
        run: (input, io) => asking((ask) => run({ ask, input, io, now: now() })).then(() => 0),
      })
  },
})

const paging = {
  '--limit <number>': 'so many at most; 50 if not said',
  '--cursor <cursor>': 'after those listed with this cursor',
}

interface SessionCommand extends Omit<Command, 'run' | 'page' | 'suggestions'> {
  readonly run: (context: CommandContext) => Promise<void>
  readonly page?: (context: Pick<CommandContext, 'ask' | 'input'>) => Promise<string>
  /** What is stored for an argument or a flag; loaded when a shell asks. */
  readonly suggest?: Readonly<Record<string, () => Promise<Suggest>>>
}

const anySession = async () => (await import('./command-suggest.ts')).suggestSessions
const openSession = async () => (await import('./command-suggest.ts')).suggestOpenSessions
const pausedSession = async () => (await import('./command-suggest.ts')).suggestPausedSessions
const anyAgent = async () => (await import('./command-suggest.ts')).suggestAgents
const activeAgent = async () => (await import('./command-suggest.ts')).suggestActiveAgents
const pausedAgent = async () => (await import('./command-suggest.ts')).suggestPausedAgents
const anyKey = async () => (await import('./command-suggest.ts')).suggestKeys
const anyProject = async () => (await import('./command-suggest.ts')).suggestProjects

type PageContext = Pick<CommandContext, 'ask' | 'input'>

const agentPage = async ({ input }: PageContext): Promise<string> =>
  `/agents/${encodeURIComponent(input.args[0] ?? '')}`

const commands: readonly SessionCommand[] = [
  {
    id: 'sessions list',
    summary: 'list sessions, newest first',
    options: {
      '--project <id>': 'of this project',
      '--agent <id>': 'of this agent',
      '--paused': 'paused ones alone',
      ...paging,
    },
    suggest: { '--project': anyProject, '--agent': anyAgent },
    example: [
      'guard sessions list',
      'guard sessions list --project shop --paused',
      'guard sessions list --json id,agent_id,cost_micro',
    ],
    paged: true,
    page: async ({ input }) =>
      filtered('/sessions', input, { project: 'project_id', agent: 'agent_id', paused: 'paused' }),
    route: 'GET /api/sessions',
    run: async (context) => (await import('./command-sessions.ts')).listSessions(context),
  },
  {
    id: 'sessions show',
    args: '<id>',
    summary: 'show what is known of a session, by its id or that of its client',
    suggest: { id: anySession },
    example: ['guard sessions show ses_…k9z3m5q7', 'guard sessions show my-first-session --web'],
    paged: true,
    page: async (context) => (await import('./command-sessions.ts')).sessionPath('/sessions', context),
    route: 'GET /api/sessions/{id}',
    run: async (context) => (await import('./command-sessions.ts')).showSession(context),
  },
  {
    id: 'sessions pause',
    args: '<id>',
    summary: 'forward nothing of a session until it is resumed',
    options: { '--reason <text>': 'words that are kept with the pause' },
    suggest: { id: openSession },
    example: ['guard sessions pause my-first-session', 'guard sessions pause ses_…k9z3m5q7 --reason "runs in circles"'],
    route: 'POST /api/sessions/{id}/pause',
    run: async (context) => (await import('./command-sessions.ts')).changeSession(context, 'pause'),
  },
  {
    id: 'sessions end',
    args: '<id>',
    summary: 'forward nothing of a session any more; it waits for nobody',
    suggest: { id: anySession },
    example: ['guard sessions end my-first-session', 'guard sessions end ses_…k9z3m5q7'],
    route: 'POST /api/sessions/{id}/end',
    run: async (context) => (await import('./command-sessions.ts')).changeSession(context, 'end'),
  },
  {
    id: 'sessions resume',
    args: '<id>',
    summary: 'resume a session and reset its loop rules',
    options: APPROVER_FLAG,
    suggest: { id: pausedSession },
    example: ['guard sessions resume my-first-session', 'guard sessions resume ses_…k9z3m5q7'],
    route: 'POST /api/sessions/{id}/resume',
    run: async (context) => (await import('./command-sessions.ts')).changeSession(context, 'resume'),
  },
  {
    id: 'agents list',
    summary: 'list agents, newest first',
    options: { '--project <id>': 'of this project', '--paused': 'paused ones alone', ...paging },
    suggest: { '--project': anyProject },
    example: ['guard agents list', 'guard agents list --paused', 'guard agents list --json id,paused'],
    paged: true,
    page: async () => '/agents',
    route: 'GET /api/agents',
    run: async (context) => (await import('./command-agents.ts')).listAgents(context),
  },
  {
    id: 'agents add',
    args: '<id>',
    summary: 'register an agent and print its key, this once',
    options: {
      '--name <text>': 'what people call it',
      '--project <id>': 'project of its requests that name none',
      '--no-key': 'without a key of its own',
      ...APPROVER_FLAG,
    },
    suggest: { '--project': anyProject },
    example: ['guard agents add reviewer', 'guard agents add reviewer --name "Code review" --project shop'],
    route: 'POST /api/agents',
    run: async (context) => (await import('./command-agents.ts')).addAgent(context),
  },
  {
    id: 'agents pause',
    args: '<id>',
    summary: 'forward nothing of an agent until it is resumed',
    suggest: { id: activeAgent },
    example: ['guard agents pause reviewer', 'guard agents pause reviewer --json paused,paused_at'],
    route: 'POST /api/agents/{id}/pause',
    run: async (context) => (await import('./command-agents.ts')).changeAgent(context, 'pause'),
  },
  {
    id: 'agents resume',
    args: '<id>',
    summary: 'let an agent go on',
    options: APPROVER_FLAG,
    suggest: { id: pausedAgent },
    example: ['guard agents resume reviewer', 'GUARD_APPROVER_KEY=… guard agents resume reviewer'],
    route: 'POST /api/agents/{id}/resume',
    run: async (context) => (await import('./command-agents.ts')).changeAgent(context, 'resume'),
  },
  {
    id: 'agents keys',
    args: '<id>',
    summary: 'list the keys of an agent, by their ids and how they begin',
    suggest: { id: anyAgent },
    example: ['guard agents keys reviewer', 'guard agents keys reviewer --json id,last_used_at'],
    paged: true,
    page: agentPage,
    route: 'GET /api/agents/{id}',
    run: async (context) => (await import('./command-agents.ts')).listKeys(context),
  },
  {
    id: 'agents issue',
    args: '<id>',
    summary: 'issue a further key for an agent and print it, this once',
    options: APPROVER_FLAG,
    suggest: { id: anyAgent },
    example: ['guard agents issue reviewer', 'guard agents issue reviewer > reviewer.key'],
    route: 'POST /api/agents/{id}/keys',
    run: async (context) => (await import('./command-agents.ts')).issueKey(context),
  },
  {
    id: 'agents revoke',
    args: '<id> <key_id>',
    summary: 'end a key of an agent, at once',
    suggest: { id: anyAgent, key_id: anyKey },
    example: ['guard agents keys reviewer', 'guard agents revoke reviewer gk_0k3v9q0000000abcdefghijklm'],
    route: 'DELETE /api/agents/{id}/keys/{key_id}',
    run: async (context) => (await import('./command-agents.ts')).revokeKey(context),
  },
]
