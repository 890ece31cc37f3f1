import type { Call, Row } from 'guard-gateway/core'
import { type KnownRequests, placeInThread, type RepliedCall, type ThreadPlacement } from '#lib/threads'
import { aRow } from './settled.ts'

/** The rows of a session as placing sees them; requests are added by hand. */
export class Session implements KnownRequests {
  readonly rows: Row[] = []
  readonly window: Row[] = []
  readonly replied = new Map<string, RepliedCall>()
  fresh = 0
  limit = 64
  seen: ReadonlySet<string> = new Set()

  place(call: Call): ThreadPlacement {
    return placeInThread(call, this)
  }

  /** Remembers a request as the gateway would. */
  add(call: Call, over: Partial<Row> = {}): Row {
    const placed = this.place(call)
    const { chain, talk, fingerprint } = call.conversation
    const row = aRow({
      id: call.id,
      fingerprint,
      chain_tip: placed.chain_tip,
      talk_tip: placed.talk_tip,
      items: chain.length,
      talk_items: talk.length,
      thread: placed.thread,
      root: placed.root,
      parent: placed.parent?.id ?? null,
      keys: placed.keys,
      new_turns: placed.new_turns,
      user_first: placed.user_first,
      retry: placed.original !== undefined,
      response_id: null,
      ...over,
    })
    this.rows.unshift(row)
    this.fresh++
    if (row.decision !== 'block' && !row.retry) this.window.unshift(row)
    return row
  }
}
