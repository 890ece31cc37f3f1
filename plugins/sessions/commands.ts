import type { Plugin } from 'guard-gateway/core'
import { APPROVER_FLAG } from 'guard-gateway/lib/approver'
import { type AskJson, type Command, commandKind } from 'guard-gateway/lib/command'
import type { CommandContext } from './command-context.ts'

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
    for (const { run, ...command } of commands)
      gateway.registry(commandKind).add({
        ...command,
        run: (input, io) => asking((ask) => run({ ask, input, io })).then(() => 0),
      })
  },
})

const paging = {
  '--limit <number>': 'so many at most; 50 if not said',
  '--cursor <cursor>': 'behind those that were listed with this cursor',
}

const commands: readonly (Omit<Command, 'run'> & { readonly run: (context: CommandContext) => Promise<void> })[] = [
  {
    id: 'sessions list',
    summary: 'list sessions, newest first',
    options: {
      '--project <id>': 'of this project',
      '--agent <id>': 'of this agent',
      '--paused': 'paused ones alone',
      ...paging,
    },
    example: 'guard sessions list --project shop --paused',
    run: async (context) => (await import('./command-sessions.ts')).listSessions(context),
  },
  {
    id: 'sessions show',
    args: '<id>',
    summary: 'show what is known of a session, by its id or that of its client',
    example: 'guard sessions show ses_4mq7t2wz3n5p6q7r8s9tabcdef',
    run: async (context) => (await import('./command-sessions.ts')).showSession(context),
  },
  {
    id: 'sessions pause',
    args: '<id>',
    summary: 'forward nothing of a session until it is resumed',
    options: { '--reason <text>': 'words that are kept with the pause' },
    example: 'guard sessions pause ses_4mq7t2wz3n5p6q7r8s9tabcdef --reason "runs in circles"',
    run: async (context) => (await import('./command-sessions.ts')).changeSession(context, 'pause'),
  },
  {
    id: 'sessions end',
    args: '<id>',
    summary: 'forward nothing of a session any more; it waits for nobody',
    example: 'guard sessions end ses_4mq7t2wz3n5p6q7r8s9tabcdef',
    run: async (context) => (await import('./command-sessions.ts')).changeSession(context, 'end'),
  },
  {
    id: 'sessions resume',
    args: '<id>',
    summary: 'resume a session and reset its loop rules',
    options: APPROVER_FLAG,
    example: 'guard sessions resume ses_4mq7t2wz3n5p6q7r8s9tabcdef',
    run: async (context) => (await import('./command-sessions.ts')).changeSession(context, 'resume'),
  },
  {
    id: 'agents list',
    summary: 'list agents, newest first',
    options: { '--project <id>': 'of this project', '--paused': 'paused ones alone', ...paging },
    example: 'guard agents list',
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
    example: 'guard agents add reviewer --project shop',
    run: async (context) => (await import('./command-agents.ts')).addAgent(context),
  },
  {
    id: 'agents pause',
    args: '<id>',
    summary: 'forward nothing of an agent until it is resumed',
    example: 'guard agents pause reviewer',
    run: async (context) => (await import('./command-agents.ts')).changeAgent(context, 'pause'),
  },
  {
    id: 'agents resume',
    args: '<id>',
    summary: 'let an agent go on',
    options: APPROVER_FLAG,
    example: 'guard agents resume reviewer',
    run: async (context) => (await import('./command-agents.ts')).changeAgent(context, 'resume'),
  },
  {
    id: 'agents keys',
    args: '<id>',
    summary: 'list the keys of an agent, by their ids and how they begin',
    example: 'guard agents keys reviewer',
    run: async (context) => (await import('./command-agents.ts')).listKeys(context),
  },
  {
    id: 'agents issue',
    args: '<id>',
    summary: 'issue a further key for an agent and print it, this once',
    options: APPROVER_FLAG,
    example: 'guard agents issue reviewer',
    run: async (context) => (await import('./command-agents.ts')).issueKey(context),
  },
  {
    id: 'agents revoke',
    args: '<id> <key_id>',
    summary: 'end a key of an agent, at once',
    example: 'guard agents revoke reviewer gk_0k3v9q0000000abcdefghijklm',
    run: async (context) => (await import('./command-agents.ts')).revokeKey(context),
  },
]
