import { randomBytes } from 'node:crypto'
import { type Approver, type Change, type Gateway, GuardError, type Plugin, stages } from 'guard-gateway/core'
import { APPROVER_FIELD, APPROVER_HEADER } from '#lib/approver'
import { newId, sha256 } from '#lib/ids'
import { type AuditLog, actorOf, mayOperate } from '#lib/principal'
import { Upkeep } from '#lib/time-slice'
import { auditTable } from './audit/tables.ts'
import { accessErrors } from './error-codes.ts'
import { KeyRing } from './key-ring.ts'
import { AccessKeys } from './keys/access-keys.ts'
import { keyTable } from './keys/tables.ts'
import { LoginSessions } from './login/login-sessions.ts'
import { loginTable } from './login/tables.ts'
import { principals } from './principals.ts'

export { type AccessCommandOptions, accessCommands } from './commands.ts'

export interface AccessOptions {
  /** The approver key, or `sha256:` and its hex digest; anybody may approve if absent or empty. */
  readonly approver_key?: string
}

/** Who may call, who may administer, who may loosen what holds agents back, and who did. */
export const access = ({ approver_key }: AccessOptions = {}): Plugin => ({
  name: 'access',
  apply(gateway: Gateway) {
    const ring = new KeyRing()
    const keys = new AccessKeys(gateway)
    const logins = new LoginSessions(gateway, keys)
    gateway.errorCodes.add(...Object.values(accessErrors))
    for (const table of [keyTable, loginTable, auditTable]) gateway.tables.add(table)
    ring.addSource(keys)
    gateway.service('access').provide({ keys: ring, approver: approver(approver_key || undefined) })
    gateway.service('audit').provide(auditLog(gateway))
    gateway.service('principals').provide(principals(gateway, keys, logins))
    const upkeep = new Upkeep(
      gateway.service('cluster'),
      (error) => gateway.fault(error, 'access:upkeep'),
      () => removeOld(gateway),
    )
    gateway.hooks.open.tapPromise('access', async ({ beside }) => {
      await keys.refresh()
      if (!beside) upkeep.begin()
      gateway
        .service('cluster')
        .get()
        ?.onChanged(() => ring.refresh())
    })
    gateway.hooks.close.tapPromise('access', async () => {
      await upkeep.end()
      await keys.noted()
    })
    gateway.hooks.http.tapPromise({ name: 'access', stage: stages.http.docs }, async () => {
      const { addPages } = await import('./page/index.ts')
      addPages(gateway, keys)
    })
    // after the HTTP server has set how routes are validated, and before the pages are served; nothing is waited for, since a plugin
    // of somebody else may be registering something meanwhile, and the framework would then end neither
    gateway.hooks.http.tap({ name: 'access', stage: stages.http.pages }, (app) => {
      void app.register(async (scope) => {
        const [{ keyRoutes }, { auditRoutes }, { loginRoutes }] = await Promise.all([
          import('./keys/routes.ts'),
          import('./audit/routes.ts'),
          import('./login/routes.ts'),
        ])
        await scope.register(loginRoutes({ gateway, keys, logins }))
        await scope.register(keyRoutes(gateway, keys), { prefix: '/api' })
        await scope.register(auditRoutes(gateway), { prefix: '/api/v1' })
      })
    })
  },
})

/** Keeps who did what, in the storage. */
const auditLog = (gateway: Gateway): AuditLog => {
  const change: AuditLog['change'] = ({
    action,
    subject = null,
    project_id = null,
    details = {},
    actor = actorOf(),
  }) => {
    const at = gateway.clock.now()
    const { name, kind, key_id } = actor
    return {
      table: 'audit',
      put: {
        id: newId('adt_', at),
        at,
        actor: name,
        actor_kind: kind,
        key_id,
        action,
        subject,
        project_id,
        details,
        instance: gateway.service('cluster').get()?.instance ?? null,
      },
    } satisfies Change
  }
  return {
    change,
    note: async (entry) => {
      try {
        await gateway.storage.write([change(entry)], { hold: true })
      } catch (error) {
        gateway.fault(error, 'access:audit')
      }
    },
  }
}

const HASHED = /^sha256:([0-9a-f]{64})$/i

const digestOf = (key: string): string => HASHED.exec(key)?.[1]?.toLowerCase() ?? sha256(key)

/** The approver that a configuration describes: `key` is the key itself, or `sha256:` and its hex digest; undefined lets everybody approve. */
export const approver = (key: string | undefined): Approver => {
  let expected = key === undefined ? undefined : digestOf(key)
  const pass = randomBytes(32).toString('hex')
  const passed = sha256(pass)
  const fault = (approverKey: string | undefined): string | undefined => {
    if (expected === undefined) return undefined
    // digests are compared: how many of their characters are equal says nothing about the key
    if (approverKey !== undefined && [expected, passed].includes(sha256(approverKey))) return undefined
    return approverKey === undefined ? 'This needs the approver key.' : 'The approver key is wrong.'
  }
  const check = (approverKey: string | undefined): void => {
    const message = fault(approverKey)
    if (message === undefined) return
    const how = `Send it as ${APPROVER_HEADER}, or give --approver-key on the command line.`
    throw new GuardError(accessErrors.APPROVER_KEY_REQUIRED, approverKey === undefined ? `${message} ${how}` : message)
  }
  return {
    get needsKey() {
      return expected !== undefined
    },
    demand(next) {
      expected ??= digestOf(next)
    },
    pass,
    check,
    checkHeaders({ [APPROVER_HEADER]: approverKey }) {
      if (!mayOperate()) check(typeof approverKey === 'string' ? approverKey : undefined)
    },
    faultIn(fields) {
      if (mayOperate()) return undefined
      const message = fault(fields.get(APPROVER_FIELD) || undefined)
      return message === undefined ? undefined : { field: APPROVER_FIELD, message }
    },
  }
}

const DAY_MS = 86_400_000
/** Records of who did what are kept so long. */
const AUDIT_MS = 400 * DAY_MS
const AT_ONCE = 1_000

/** Removes records of who did what that are older than 400 days, and logins that have ended. */
export const removeOld = async ({ storage, clock }: Gateway): Promise<void> => {
  const now = clock.now()
  const removeAll = async (remove: () => Promise<number>): Promise<void> => {
    while ((await remove()) === AT_ONCE);
  }
  await removeAll(() => storage.remove('audit', { at: { lt: now - AUDIT_MS } }, AT_ONCE))
  await removeAll(() => storage.remove('logins', { expires_at: { lt: now } }, AT_ONCE))
}
