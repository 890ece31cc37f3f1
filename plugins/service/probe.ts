import { isJsonObject } from 'guard-gateway/lib/json'

const PROBE_MS = 3_000

const answer = (url: string): Promise<Response | undefined> =>
  fetch(url, { signal: AbortSignal.timeout(PROBE_MS) }).catch(() => undefined)

/** Whether the gateway takes requests. */
export const isReady = async (address: string): Promise<boolean> => {
  const response = await answer(`${address}/readyz`)
  await response?.body?.cancel()
  return response?.status === 200
}

/** What the gateway says of itself: `ok`, `degraded`; undefined where nobody answers. */
export const healthAt = async (address: string): Promise<string | undefined> => {
  const body: unknown = await (await answer(`${address}/api/health`))?.json().catch(() => undefined)
  return isJsonObject(body) && typeof body.status === 'string' ? body.status : undefined
}
