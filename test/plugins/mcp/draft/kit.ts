import { readFileSync } from 'node:fs'
import { Gateway } from 'guard-gateway/core'
import { memory } from 'guard-gateway/plugins/storage/memory'
import { foundation } from 'guard-gateway/presets/foundation'
import { type Draft, draftPolicy } from '../../../../plugins/mcp/draft/draft.ts'
import { type DraftedTool, draftedTool } from '../../../../plugins/mcp/draft/drafted-tool.ts'
import { NOTHING_SEEN, type SeenServer } from '../../../../plugins/mcp/draft/seen-calls.ts'
import type { Action } from '../../../../plugins/mcp/judge/verdict.ts'
import { explainCall } from '../../../../plugins/mcp/policy/explain.ts'
import { loadPolicy } from '../../../../plugins/mcp/policy/load.ts'
import { httpHosts } from '../../../../plugins/mcp-checks/http.ts'
import { path } from '../../../../plugins/mcp-checks/path.ts'
import { shell } from '../../../../plugins/mcp-checks/shell.ts'
import { size } from '../../../../plugins/mcp-checks/size.ts'
import { sql } from '../../../../plugins/mcp-checks/sql.ts'
import { aCall } from '../policy/kit.ts'

/** A gateway with every check and nothing else. */
export const plainGateway = (): Gateway =>
  new Gateway().use(...foundation(), memory(), httpHosts, path, shell, size, sql)

/** A list as a published server gives it, its prose shortened. */
export const listOf = (server: 'playwright' | 'git' | 'desktop-commander'): string =>
  readFileSync(new URL(`data/${server}.json`, import.meta.url), 'utf8')

/** Tools as a draft looks at them. */
export const toolsOf = (gateway: Gateway, id: string, list: readonly object[]): readonly DraftedTool[] =>
  list.map((tool) =>
    draftedTool(id, String((tool as { readonly name: unknown }).name), JSON.stringify(tool), gateway.redact),
  )

export const draftOf = (
  gateway: Gateway,
  id: string,
  list: readonly object[],
  seen: SeenServer = NOTHING_SEEN,
): Promise<Draft> => draftPolicy(gateway, { servers: [{ id, tools: toolsOf(gateway, id, list), seen }] })

/** Says of calls what a policy says once it enforces; rejects where it cannot be used or one of its tests fails. */
export const judgeOf = async (gateway: Gateway, yaml: string) => {
  const { policy, valid } = await loadPolicy(gateway, { text: yaml })
  if (policy === undefined || !valid) throw new Error('The policy cannot be used.')
  return async (server_id: string, tool: string, args: object): Promise<Action> =>
    (await explainCall(gateway, policy, aCall(tool, args, { server_id }))).verdict.action
}
