import { GuardError, type Plugin } from 'guard-gateway/core'
import { APPROVER_FLAG } from '#lib/approver'
import { type AskJson, type Command, commandKind, type Input, type Io } from '#lib/command'
import { scopes } from '#lib/principal'

/** Where commands find keys and audit records. */
export interface AccessCommandOptions {
  /** Gives `work` the running gateway, or one that is opened for it. */
  readonly asking: <T>(work: (ask: AskJson) => Promise<T>) => Promise<T>
  /** Gives `work` one that is opened for it beside whatever runs. */
  readonly beside: <T>(work: (ask: AskJson) => Promise<T>) => Promise<T>
}

type Work = (context: {
  readonly ask: AskJson
  readonly input: Input
  readonly io: Io
  readonly now: number
}) => Promise<void>

/** Gives the command line `key create`, `key list`, `key revoke` and `audit`. */
export const accessCommands = ({ asking, beside }: AccessCommandOptions): Plugin => ({
  name: 'access-commands',
  requires: ['access'],
  apply(gateway) {
    /** The storage itself is at hand where the gateway that runs wants a key and none is given: whoever can open it may. */
    const reaching = async <T>(io: Io, work: (ask: AskJson) => Promise<T>): Promise<T> => {
      try {
        return await asking(work)
      } catch (error) {
        if (!wantsKey(error) || io.env.GUARD_ACCESS_KEY) throw error
        return beside(work)
      }
    }
    for (const { work, ...command } of commands)
      gateway.registry(commandKind).add({
        ...command,
        run: (input, io) =>
          reaching(io, async (ask) => (await work())({ ask, input, io, now: gateway.clock.now() })).then(() => 0),
      })
  },
})

const wantsKey = (error: unknown): boolean => error instanceof GuardError && error.code === 'KEY_REQUIRED'

interface AccessCommand extends Omit<Command, 'run'> {
  readonly work: () => Promise<Work>
}

const commands: readonly AccessCommand[] = [
  {
    id: 'key create',
    summary: 'make a key with scopes and print it, this once; the first one needs no other key',
    options: {
      '--name <text>': 'whose it is: audit records call it so',
      '--scope <list>': `what it is for, joined by commas: ${scopes.join(', ')}`,
      '--project <list>': 'it sees these projects alone, joined by commas',
      '--expires <time>': 'it ends after this time, as 12h or 30d; never if not said',
      ...APPROVER_FLAG,
    },
    choices: { '--scope': scopes },
    example: [
      'guard key create --name "Ada" --scope admin',
      'guard key create --name dashboard --scope read --project shop --expires 30d',
    ],
    route: 'POST /api/keys',
    work: async () => (await import('./keys/command-keys.ts')).createKey,
  },
  {
    id: 'key list',
    summary: 'list keys with scopes, by their ids and how they begin',
    example: ['guard key list', 'guard key list --json id,name,last_used_at'],
    paged: true,
    route: 'GET /api/keys',
    work: async () => (await import('./keys/command-keys.ts')).listKeys,
  },
  {
    id: 'key revoke',
    args: '<id>',
    summary: 'end a key with scopes, at once, with the logins that it began',
    example: ['guard key list', 'guard key revoke akey_0k3v9q0000000abcdefghijklm'],
    route: 'DELETE /api/keys/{id}',
    work: async () => (await import('./keys/command-keys.ts')).revokeKey,
  },
  {
    id: 'audit',
    summary: 'list who did what: pauses, approvals, policies, keys, logins, newest first',
    options: {
      '--since <time>': 'from this time on, as 7d or 2026-03-01',
      '--actor <name>': 'by this key or person',
      '--action <name>': 'of this kind, as session.paused',
      '--project <id>': 'in this project',
      '--limit <number>': 'so many at most; 50 if not said',
      '--cursor <cursor>': 'after those listed with this cursor',
    },
    example: ['guard audit --since 7d', 'guard audit --action policy.changed --json'],
    paged: true,
    route: 'GET /api/v1/audit',
    work: async () => (await import('./audit/command-audit.ts')).listAudit,
  },
]
