import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { extendedRules } from 'guard-gateway/plugins/policy'
import { readYaml } from '#lib/yaml'

/** Shipped policies with a one-line summary; the recommended first one leads. */
export const shippedPolicies = {
  'enforce-recommended': 'what is surely stuck blocks, the rest flags; the one to enforce',
  'steer-recommended': 'the same, but the model is told first, and blocked where the loop goes on',
  'pause-recommended': 'the same, but the session waits for a person, who lets it go on or ends it',
  observe: 'every detector flags, nothing is stopped',
  default: 'six literal rules; enforced, they also stop what is no loop',
} as const

/** Policies that derive from another list and change its actions. */
const derived: ReadonlySet<string> = new Set<ShippedPolicy>(['steer-recommended', 'pause-recommended'])

export type ShippedPolicy = keyof typeof shippedPolicies

/** Shipped policies by name, and the one for projects without a policy. */
export const shippedRules = async (unlessSet: ShippedPolicy = 'default') => {
  known ??= readAll()
  // callers may retain and change the result
  const presets = structuredClone(await known)
  return { defaults: presets[unlessSet], presets }
}

let known: Promise<Readonly<Record<ShippedPolicy, unknown>>> | undefined

/** The files are read once per process, because they are part of the program. */
const readAll = async (): Promise<Readonly<Record<ShippedPolicy, unknown>>> => {
  const yaml = await import('yaml')
  const read = async (name: string): Promise<unknown> => {
    const file = fileURLToPath(
      import.meta.resolve(`guard-gateway/policies/${derived.has(name) ? 'derived/' : ''}${name}.yml`),
    )
    return readYaml(yaml, await readFile(file, 'utf8')).value
  }
  const names = Object.keys(shippedPolicies) as ShippedPolicy[]
  const lists = await Promise.all(
    names.map(async (name) => [name, await extendedRules(await read(name), read)] as const),
  )
  return Object.fromEntries(lists) as Record<ShippedPolicy, unknown>
}
