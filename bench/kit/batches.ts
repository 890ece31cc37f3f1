import { type DriverChange, handle, type Table } from 'guard-gateway/core'
import { chatCompletions } from 'guard-gateway/plugins/api-styles/chat-completions'
import { conversationOf } from './bodies.ts'
import { callOf, silentClient } from './calls.ts'
import { openGateway, watchedStorage } from './gateway.ts'
import { bodyOf } from './template.ts'

/** What the gateway writes for one request of a session that is known already, and all its tables. */
export interface RecordedBatch {
  readonly tables: readonly Table[]
  /** Puts the session's row, which `request` amends. */
  readonly opening: readonly DriverChange[]
  /** One call, one session, one run. */
  readonly request: readonly DriverChange[]
}

/** Lets a gateway handle two requests and keeps what it would have stored. */
export const recordedBatch = async (): Promise<RecordedBatch> => {
  const batches: (readonly DriverChange[])[] = []
  const gateway = await openGateway(watchedStorage((batch) => batches.push(batch)))
  const tables = [...gateway.tables]
  const conversation = conversationOf('chat_completions', 32)
  const turns = conversation.ends.length - 2
  for (const more of [0, 1])
    await handle(gateway, callOf(chatCompletions, bodyOf(conversation, turns + more)), silentClient)
  await gateway.close()
  const request = batches.findLast((batch) => batch.some(({ table }) => table.id === 'calls'))
  if (request === undefined) throw new Error('the gateway recorded nothing')
  return { tables, opening: batches.flatMap((batch) => batch.filter(({ table }) => table.id === 'sessions')), request }
}

/** The same batch for another request: rows that are put get ids of their own, but for the session. */
export const renumbered = (batch: readonly DriverChange[], number: number): DriverChange[] =>
  batch.map((change) =>
    change.kind === 'put' && change.table.id !== 'sessions'
      ? { ...change, row: { ...change.row, id: `bench_${number}` } }
      : change,
  )
