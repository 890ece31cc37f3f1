import assert from 'node:assert/strict'
import { type McpClient, type McpService, startMcp } from '../../../kit/mcp.ts'

export interface PlaceHealth {
  readonly url: string
  readonly queued: number
  readonly sending: number
  readonly sent: number
  readonly dropped: number
  readonly failed: number
  readonly last_error: { readonly message: string } | null
}

/** A gateway that passes its audit on to places, as flow YAML. */
export const startAudited = (places: string, policy = 'version: 1\ndefault: allow\nrules: []\n'): Promise<McpService> =>
  startMcp({ mcp: `audit_export: [${places}]`, policy })

export const healthOf = async ({ gateway }: McpService): Promise<readonly PlaceHealth[]> => {
  const { json } = await gateway.request('GET', '/api/health')
  const { audit_push } = json as { readonly audit_push: { readonly receivers: readonly PlaceHealth[] } }
  return audit_push.receivers
}

/** Until it is so, by asking again and again. */
export const until = async <T>(look: () => Promise<T | undefined | false>): Promise<T> => {
  const late = performance.now() + 60_000
  for (;;) {
    const seen = await look()
    if (seen !== undefined && seen !== false) return seen
    assert.ok(performance.now() < late, 'it did not come to be so')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Until so many records have gone to the first place. */
export const sent = (service: McpService, count: number): Promise<PlaceHealth> =>
  until(async () => {
    const [first] = await healthOf(service)
    return (first?.sent ?? 0) >= count && first
  })

export const called = async (client: McpClient, tool: string, args: object = {}): Promise<void> => {
  assert.equal((await client.call(tool, args)).status, 200)
}
