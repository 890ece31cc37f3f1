/** What tests use of oidc-provider, which comes without types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface IssuedToken {
    readonly accountId: string
    readonly aud?: string | readonly string[]
    readonly clientId: string
    readonly exp: number
    readonly grantId: string
    readonly scope?: string
    destroy(): Promise<void>
  }

  interface TokenModel {
    find(value: string): Promise<IssuedToken | undefined>
    revokeByGrantId(grantId: string): Promise<void>
  }

  export class Provider {
    constructor(issuer: string, configuration: object)
    readonly AccessToken: TokenModel
    readonly RefreshToken: TokenModel
    callback(): (request: IncomingMessage, response: ServerResponse) => void
    on(event: string, listener: (...args: readonly unknown[]) => void): this
  }
}
