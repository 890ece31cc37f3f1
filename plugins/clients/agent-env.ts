import type { Gateway } from 'guard-gateway/core'
import { type ChildEnv, childEnv } from 'guard-gateway/lib/child-env'
import type { Io } from 'guard-gateway/lib/command'
import { directReason } from 'guard-gateway/lib/network'
import type { Launch } from './profile.ts'
import { headerLines, KEY_HEADER } from './profile-settings.ts'

export interface AgentEnvOptions {
  /** Address of the gateway. The agent reaches it without a proxy. */
  readonly address: string
  /** File of certificates to trust, as in `ClientsOptions`. */
  readonly authority?: string | undefined
  readonly launch: Launch
  readonly gateway_key: string
  /** Headers that the agent adds to its requests. */
  readonly labels: Readonly<Record<string, string>>
  /** Variables from `--env`. They are passed on even if they hold a key. */
  readonly given: readonly string[]
}

/** Builds the agent's environment: the user's own without keys, the variables of its profile, and the gateway key where the client reads it. */
export const agentEnv = (
  own: Io['env'],
  gateway: Pick<Gateway, 'secrets' | 'approver'>,
  { address, authority = '', launch, gateway_key, labels, given }: AgentEnvOptions,
): ChildEnv => {
  const { env, key_variables, header_variables = [], key_headers = [], logins } = launch
  const child = childEnv(own, gateway, { given, ...(logins === undefined ? {} : { logins }) })
  const linesFor = (name: string): string => {
    const headers = key_headers.includes(name) ? { ...labels, [KEY_HEADER]: gateway_key } : labels
    return [...userHeaderLines(child.env[name] ?? '', headers), headerLines(headers)].join('\n')
  }
  const set = {
    ...directReason(address, child.env),
    // one that the user has set holds more than ours
    ...(authority === '' || child.env[TRUSTED] ? {} : { [TRUSTED]: authority }),
    ...env,
    ...Object.fromEntries(key_variables.map((name) => [name, gateway_key])),
    ...Object.fromEntries(header_variables.map((name) => [name, linesFor(name)])),
  }
  const passed = Object.fromEntries(
    given.flatMap((name) => (child.env[name] === undefined ? [] : [[name, child.env[name]]])),
  )
  return {
    env: { ...child.env, ...set, ...passed },
    // a variable that has another value is not withheld
    withheld: child.withheld.filter((name) => !Object.hasOwn(set, name)),
  }
}

/** What Node and Bun trust besides, which most agents run on. */
const TRUSTED = 'NODE_EXTRA_CA_CERTS'

/** Returns the user's own header lines. A nested run drops the headers of the outer run, since a request names one run. */
const userHeaderLines = (text: string, headers: Readonly<Record<string, string>>): readonly string[] =>
  text.split('\n').filter((line) => {
    const name = line.split(':', 1)[0]?.trim().toLowerCase() ?? ''
    return line.trim() !== '' && !Object.hasOwn(headers, name) && !name.startsWith('x-guard-')
  })
