import type { Gateway } from 'guard-gateway/core'
import { type ChildEnv, childEnv } from 'guard-gateway/lib/child-env'
import type { Io } from 'guard-gateway/lib/command'
import { directTo } from 'guard-gateway/lib/network'
import type { Launch } from './profile.ts'
import { headerLines, KEY_HEADER } from './profile-settings.ts'

/** What an agent is started with. */
export interface AgentEnvOptions {
  /** Of the gateway, which is reached without a proxy. */
  readonly address: string
  readonly launch: Launch
  readonly gateway_key: string
  /** Headers that its requests are to carry. */
  readonly labels: Readonly<Record<string, string>>
  /** Names that the user gives it, whatever they hold. */
  readonly given: readonly string[]
}

/** The environment of an agent: the user's own without keys, what points it at the gateway, and the gateway's key where it looks for one. */
export const agentEnv = (
  own: Io['env'],
  gateway: Pick<Gateway, 'secrets' | 'approver'>,
  { address, launch, gateway_key, labels, given }: AgentEnvOptions,
): ChildEnv => {
  const { env, key_variables, header_variables = [], key_headers = [], logins } = launch
  const child = childEnv(own, gateway, { given, ...(logins === undefined ? {} : { logins }) })
  const linesFor = (name: string): string => {
    const headers = key_headers.includes(name) ? { ...labels, [KEY_HEADER]: gateway_key } : labels
    return [...ownLines(child.env[name] ?? '', headers), headerLines(headers)].join('\n')
  }
  const set = {
    ...directTo(address, child.env),
    ...env,
    ...Object.fromEntries(key_variables.map((name) => [name, gateway_key])),
    ...Object.fromEntries(header_variables.map((name) => [name, linesFor(name)])),
  }
  const back = Object.fromEntries(
    given.flatMap((name) => (child.env[name] === undefined ? [] : [[name, child.env[name]]])),
  )
  return {
    env: { ...child.env, ...set, ...back },
    // what has another value instead is there
    withheld: child.withheld.filter((name) => !Object.hasOwn(set, name)),
  }
}

/** The user's own header lines; a nested run drops those of the outer run, since a request may name itself once. */
const ownLines = (text: string, headers: Readonly<Record<string, string>>): readonly string[] =>
  text.split('\n').filter((line) => {
    const name = line.split(':', 1)[0]?.trim().toLowerCase() ?? ''
    return line.trim() !== '' && !Object.hasOwn(headers, name) && !name.startsWith('x-guard-')
  })
