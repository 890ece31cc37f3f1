import type { Gateway } from 'guard-gateway/core'
import { hasExited } from '#lib/ids'

/** Whether a process that wrote records has stopped. Where several hosts share the storage, process ids say nothing: those know of one another that are alive. */
export const hasStopped = async (gateway: Gateway, writer: string): Promise<boolean> =>
  gateway.service('cluster').get()?.hasDied(writer) ?? hasExited(writer)
