import { readFileSync, statSync } from 'node:fs'
import { type UpstreamRequest, upstreamClient } from 'guard-gateway/lib/upstream-client'
import { undici } from 'guard-gateway/plugins/upstream-clients/undici'

/** Sends the token in a file to an upstream. Something else renews the file, such as a Kubernetes service account or an hourly login. */
export const tokenFile = (path: string) =>
  upstreamClient({
    id: 'token_file',
    connect(address) {
      const connections = undici.connect(address)
      let token = ''
      let readAt = Number.NaN
      const fresh = (): string => {
        const { mtimeMs } = statSync(path)
        if (mtimeMs !== readAt) token = readFileSync(path, 'utf8').trim()
        readAt = mtimeMs
        return token
      }
      return {
        send: (request, listener) => connections.send(withToken(request, fresh()), listener),
        retire: () => connections.retire(),
        close: () => connections.close(),
      }
    },
  })

export const serviceAccount = tokenFile(process.env.UPSTREAM_TOKEN_FILE ?? '/run/secrets/upstream-token')

/** Replaces the configured key with the token. */
const withToken = (request: UpstreamRequest, token: string): UpstreamRequest => {
  const { headers } = request
  const isKey = (at: number): boolean => at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'authorization'
  return { ...request, headers: headers.map((part, at) => (isKey(at) ? `Bearer ${token}` : part)) }
}
