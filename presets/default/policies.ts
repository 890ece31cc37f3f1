import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readYaml } from 'guard-gateway/core'

/** The lists of rules that come with the gateway: that of every project without a policy of its own, and all by name. */
export const shippedRules = async () => {
  const yaml = await import('yaml')
  const text = await readFile(fileURLToPath(import.meta.resolve('guard-gateway/policies/default.yml')), 'utf8')
  const defaults = readYaml(yaml, text).value
  return { defaults, presets: { default: defaults } }
}
