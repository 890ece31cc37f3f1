import type { Plugin } from 'guard-gateway/core'

/** A bearer token, and when it ends, milliseconds since 1970. */
export interface Token {
  readonly value: string
  readonly expires_at: number
}

export interface VertexTokenOptions {
  /** Name of the upstream, as `https://europe-west4-aiplatform.googleapis.com` with `auth: none` and `styles: [gemini]`. */
  readonly upstream: string
  /** Asks for another token, for example by `new GoogleAuth().getAccessToken()` of google-auth-library. */
  readonly renew: () => Promise<Token>
}

/** A token is renewed so long before its end. */
const MARGIN_MS = 60_000

/** Shows an upstream a bearer token that is renewed before it ends, once for all requests that wait for it. */
export const vertexToken = ({ upstream, renew }: VertexTokenOptions): Plugin => ({
  name: 'vertex-token',
  apply({ hooks, clock, secrets }) {
    let token: Promise<Token> | undefined
    const current = async (): Promise<Token> => {
      const known = await token?.catch(() => undefined)
      return known !== undefined && known.expires_at - MARGIN_MS > clock.now() ? known : renewed(token)
    }
    // whoever comes first renews; the others wait for the same answer
    const renewed = (before: typeof token): Promise<Token> => {
      if (token === before) {
        token = renew()
        token.then(({ value }) => secrets.add(value)).catch(() => {})
      }
      return token ?? renewed(before)
    }
    hooks.outbound.tapPromise('vertex-token', async (head) => {
      if (head.upstream === upstream) head.set('authorization', `Bearer ${(await current()).value}`)
    })
  },
})
