import type { Gateway } from 'guard-gateway/core'
import { proxyPassword } from '#lib/network'
import type { Config } from './schema.ts'

const credentialName = /(key|token|secret|password|passwd|passphrase|credentials?|(^|[-_])pat|authorization|cookie)$/i

/** Registers the credentials of a configuration, so that they are redacted and never forwarded. */
export const addSecrets = (
  secrets: Gateway['secrets'],
  { gateway_key, server, storage, network, upstreams, mcp, replay, notify }: Config,
): void => {
  secrets.add(gateway_key)
  secrets.add(server.tls.passphrase)
  if (!mcp.approver_key.startsWith('sha256:')) secrets.add(mcp.approver_key)
  addLogins(secrets, mcp)
  addDatabase(secrets, storage.url)
  const reached = [network, ...upstreams, ...Object.values(mcp.servers), ...replay.otlp_export, ...mcp.audit_export]
  for (const { proxy = '' } of [...reached, ...Object.values(notify.receivers)]) secrets.add(proxyPassword(proxy))
  for (const key of upstreams.flatMap(keysOf)) secrets.add(key)
  for (const { headers } of upstreams) addCredentials(secrets, headers)
  for (const { headers, env } of Object.values(mcp.servers)) addCredentials(secrets, { ...headers, ...env })
  for (const { headers } of [...replay.otlp_export, ...mcp.audit_export])
    for (const [name, value] of Object.entries(headers))
      if (!routingHeader.test(name)) secrets.add(withoutScheme(value))
  for (const receiver of Object.values(notify.receivers)) addReceiver(secrets, receiver)
}

const keysOf = ({ api_key = '', api_keys }: Config['upstreams'][number]): readonly string[] => [api_key, ...api_keys]

const addLogins = (secrets: Gateway['secrets'], { login_key, servers }: Config['mcp']): void => {
  secrets.add(login_key)
  for (const { login } of Object.values(servers)) secrets.add(login?.client_secret ?? '')
}

/** The address of a database, and its password, unless that is a word that stands in other texts. */
const addDatabase = (secrets: Gateway['secrets'], url: string): void => {
  const { username, pathname } = URL.parse(url) ?? {}
  const password = proxyPassword(url)
  if (password === '' || password === username || `/${password}` === pathname) return
  secrets.add(url)
  secrets.add(password)
}

/** What plugins of the user's are given, at any depth: values under names of credentials, those that a schema calls `writeOnly`, and addresses with a password. */
export const addOptionSecrets = (
  secrets: Gateway['secrets'],
  configured: unknown,
  schema: unknown,
  name = '',
): void => {
  if (typeof configured === 'string') {
    if (Reflect.get(Object(schema), 'writeOnly') === true) secrets.add(configured)
    addCredentials(secrets, { [name]: configured })
  } else if (Array.isArray(configured)) {
    for (const one of configured) addOptionSecrets(secrets, one, Reflect.get(Object(schema), 'items'), name)
  } else if (typeof configured === 'object' && configured !== null) {
    const properties = Object(Reflect.get(Object(schema), 'properties'))
    for (const [key, value] of Object.entries(configured))
      addOptionSecrets(secrets, value, Reflect.get(properties, key), key)
  }
}

/** The address of a receiver is often all that a sender needs. */
const addReceiver = (secrets: Gateway['secrets'], { url = '', ...options }: Record<string, unknown>): void => {
  secrets.add(String(url))
  const texts = Object.entries(options).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  addCredentials(secrets, Object.fromEntries(texts))
}

/** Header names of OTLP receivers that route spans and are not credentials. */
const routingHeader =
  /(?:^|-)(?:dataset|environment|index|org(?:anization)?-?id|project|stream(?:-name)?|tenant(?:-id)?)$/i

/** Registers values with credential-like names, and addresses with a password. */
const addCredentials = (secrets: Gateway['secrets'], values: Readonly<Record<string, string>>): void => {
  for (const [name, value] of Object.entries(values)) {
    if (credentialName.test(name)) secrets.add(withoutScheme(value))
    addPassword(secrets, value)
  }
}

/** Registers an address that contains a password, and the password. */
const addPassword = (secrets: Gateway['secrets'], value: string): void => {
  const { password = '' } = URL.parse(value) ?? {}
  if (password === '') return
  secrets.add(value)
  secrets.add(password)
}

/** The credential of an `authorization` value, without its scheme. */
const withoutScheme = (value: string): string => value.replace(/^\S+ (?=\S+$)/, '')
