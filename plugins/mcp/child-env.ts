import type { Secrets } from 'guard-gateway/core'

/** The environment of a client's own server, and the names that were kept from it. */
export interface ChildEnv {
  readonly env: Readonly<Record<string, string>>
  readonly withheld: readonly string[]
}

/** What a client put into the environment is meant for its server, but for what belongs to the gateway. `given`: names to pass on all the same. */
export const childEnv = (
  env: Readonly<Record<string, string | undefined>>,
  secrets: Secrets,
  given: readonly string[],
): ChildEnv => {
  const withheld: string[] = []
  const kept: [string, string][] = []
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue
    const ours = /^GUARD_/i.test(name) || (value !== '' && secrets.holds(value))
    if (ours && !given.includes(name)) withheld.push(name)
    else kept.push([name, value])
  }
  return { env: Object.fromEntries(kept), withheld }
}
