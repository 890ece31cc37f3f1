import type { Gateway } from 'guard-gateway/core'
import { type Html, html } from 'guard-gateway/lib/html'
import type { Trace } from 'guard-gateway/lib/trace'
import { addUse, type Use } from '../../read/use.ts'
import { useTable } from './use-table.ts'

/** Calls of a run by model, tool and command. */
export const useView = (gateway: Gateway, { spans }: Trace): Html => {
  const uses = new Map<string, Use>()
  addUse(uses, spans)
  return useTable(gateway, uses) ?? html`<p class="empty">This run calls no model, tool or command.</p>`
}
