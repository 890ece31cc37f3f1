import type { Change, Gateway } from 'guard-gateway/core'
import { newId } from 'guard-gateway/lib/ids'
import type { AuditLog } from 'guard-gateway/lib/principal'
import { actorOf } from 'guard-gateway/lib/principal'

/** Keeps who did what, in the storage. */
export const auditLog = (gateway: Gateway): AuditLog => {
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
