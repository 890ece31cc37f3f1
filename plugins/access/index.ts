import { type Gateway, type Plugin, stages } from 'guard-gateway/core'
import { approver } from './approver.ts'
import { auditLog } from './audit/audit.ts'
import { auditTable } from './audit/tables.ts'
import { accessErrors } from './error-codes.ts'
import { KeyRing } from './key-ring.ts'
import { AccessKeys } from './keys/access-keys.ts'
import { keyTable } from './keys/tables.ts'
import { LoginSessions } from './login/login-sessions.ts'
import { loginTable } from './login/tables.ts'
import { principals } from './principals.ts'
import { Upkeep } from './upkeep.ts'

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
    const upkeep = new Upkeep(gateway)
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
