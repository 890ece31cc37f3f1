import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readYaml } from 'guard-gateway/core'

/** Names of the lists of rules that come with the gateway, a file each. */
export type ShippedPolicy = 'default' | 'enforce-recommended' | 'observe'

/** The lists of rules that come with the gateway, by name, and which of them is that of projects without a policy of their own. */
export const shippedRules = async (unlessSet: ShippedPolicy = 'default') => {
  known ??= readAll()
  // whoever asks may keep and change what they get
  const presets = structuredClone(await known)
  return { defaults: presets[unlessSet], presets }
}

let known: Promise<Readonly<Record<ShippedPolicy, unknown>>> | undefined

/** Read once per process: they are part of the program. */
const readAll = async (): Promise<Readonly<Record<ShippedPolicy, unknown>>> => {
  const yaml = await import('yaml')
  const read = async (name: ShippedPolicy): Promise<unknown> => {
    const file = fileURLToPath(import.meta.resolve(`guard-gateway/policies/${name}.yml`))
    return readYaml(yaml, await readFile(file, 'utf8')).value
  }
  return {
    default: await read('default'),
    'enforce-recommended': await read('enforce-recommended'),
    observe: await read('observe'),
  }
}
