import { type Gateway, stages } from 'guard-gateway/core'
import { clientOf, HttpDelivery } from '../http-delivery.ts'
import { endReceivers, healthOf, Receiver } from '../receiver.ts'
import type { AuditPlace } from '../receiver-options.ts'
import { AuditSource, type QueuedRecord, RECORDS } from './audit-source.ts'
import { FileDelivery } from './file-delivery.ts'
import { jsonLines } from './json-lines.ts'
import { logRequests } from './log-requests.ts'

/** Who looks at a file sees a record soon after it came. */
const FILE_DELAY_MS = 200

/** Queues each record of the audit for each place. Throws MISSING_PLUGIN without an HTTP client, and TypeError for an invalid address. */
export const startAuditPush = (gateway: Gateway, places: readonly AuditPlace[], version: string): void => {
  const receivers = places.map((place) => receiverOf(gateway, place, version))
  gateway
    .service('auditRecords')
    .need()
    .onRecord((id, project_id) => {
      const waiting: QueuedRecord = { id, count: 1, since: gateway.clock.tick() }
      for (const receiver of receivers) receiver.add(waiting, project_id ?? undefined)
    })
  // runs after all plugins that may still write records
  gateway.hooks.close.tapPromise({ name: 'audit-push', stage: stages.close.push }, () => endReceivers(receivers))
  gateway.health.set('audit_push', () => healthOf(receivers))
}

const receiverOf = (gateway: Gateway, place: AuditPlace, version: string): Receiver<QueuedRecord> => {
  if ('file' in place) {
    const source = new AuditSource(gateway, place.projects, jsonLines)
    return new Receiver(gateway, new FileDelivery(gateway, place.file), source, { ...place, delay_ms: FILE_DELAY_MS })
  }
  const delivery = new HttpDelivery(gateway, clientOf(gateway), place, RECORDS)
  const source = new AuditSource(gateway, place.projects, logRequests(version, place.compression))
  return new Receiver(gateway, delivery, source, place)
}
