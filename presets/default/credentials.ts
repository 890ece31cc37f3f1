import type { Gateway } from 'guard-gateway/core'
import type { Config } from './schema.ts'

const credentialName = /(key|token|secret|password|authorization|cookie)$/i

/** Makes everything secret in a configuration known as such, so that it is hidden and never forwarded. */
export const addSecrets = (secrets: Gateway['secrets'], { gateway_key, upstreams }: Config): void => {
  secrets.add(gateway_key)
  for (const { api_key = '', headers } of upstreams) {
    secrets.add(api_key)
    for (const [name, value] of Object.entries(headers)) if (credentialName.test(name)) secrets.add(behindScheme(value))
  }
}

/** The credential of an `authorization`-like value, without the word before it. */
const behindScheme = (value: string): string => value.replace(/^\S+ (?=\S+$)/, '')
