import type { Gateway } from 'guard-gateway/core'
import { proxyPassword } from 'guard-gateway/lib/network'
import type { Config } from './schema.ts'

const credentialName = /(key|token|secret|password|passwd|passphrase|credentials?|(^|[-_])pat|authorization|cookie)$/i

/** Makes everything secret in a configuration known as such, so that it is hidden and never forwarded. */
export const addSecrets = (
  secrets: Gateway['secrets'],
  { gateway_key, network, upstreams, mcp, replay }: Config,
): void => {
  secrets.add(gateway_key)
  if (!mcp.approver_key.startsWith('sha256:')) secrets.add(mcp.approver_key)
  for (const { proxy = '' } of [network, ...upstreams, ...Object.values(mcp.servers), ...replay.otlp_export])
    secrets.add(proxyPassword(proxy))
  for (const { api_key = '', headers } of upstreams) {
    secrets.add(api_key)
    addNamed(secrets, headers)
  }
  for (const { headers, env } of Object.values(mcp.servers)) addNamed(secrets, { ...headers, ...env })
  for (const { headers } of replay.otlp_export)
    for (const [name, value] of Object.entries(headers)) if (!placeName.test(name)) secrets.add(withoutScheme(value))
}

/** Headers that tell a receiver of OTLP where spans belong. Others, whatever they are called, let the gateway in. */
const placeName = /(?:^|-)(?:dataset|environment|index|org(?:anization)?-?id|project|stream(?:-name)?|tenant(?:-id)?)$/i

/** Adds the values whose names say that they are credentials, and addresses with a password. */
const addNamed = (secrets: Gateway['secrets'], values: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(values)) {
    if (credentialName.test(name)) secrets.add(withoutScheme(value))
    addPassword(secrets, value)
  }
}

/** An address with a password in it is a credential, and so is the password. */
const addPassword = (secrets: Gateway['secrets'], value: string): void => {
  const { password = '' } = URL.parse(value) ?? {}
  if (password === '') return
  secrets.add(value)
  secrets.add(password)
}

/** The credential of an `authorization`-like value, without the word before it. */
const withoutScheme = (value: string): string => value.replace(/^\S+ (?=\S+$)/, '')
