import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse as parseYaml } from 'yaml'
import { readPrices } from '../../plugins/replay/pricing/prices.ts'
import { parseConfig } from '../../presets/default/config.ts'
import type { Started } from '../kit/gateway.ts'
import { installed } from '../kit/installed.ts'
import { authority, signed } from '../kit/private-authority.ts'
import { type Block, root } from './documents.ts'

/** Whatever a configuration names of the environment. */
const environmentOf = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => [name, valueFor(name)]))

const valueFor = (name: string): string => {
  if (/WEBHOOK|TOPIC|URL/.test(name)) return 'https://receiver.example/path'
  return /SECRET$/.test(name) ? `whsec_${Buffer.alloc(32, 7).toString('base64')}` : `value-of-${name}`
}

const certificateFor = (name: string): string => {
  if (/root|ca\b/.test(name)) return authority
  return name.startsWith('privkey') ? signed.key : signed.cert
}

/** A configuration, an MCP policy or prices, by the keys that it begins with. */
const yaml = async ({ text }: Block, gateway: Started): Promise<void> => {
  const value: unknown = parseYaml(text)
  assert.ok(typeof value === 'object' && value !== null && !Array.isArray(value), 'no mapping')
  if ('currency' in value) {
    await readPrices(text)
    return
  }
  if ('version' in value) {
    const { json } = await gateway.request('POST', '/api/v1/mcp/policies/validate', { yaml: text })
    assert.deepEqual((json as { readonly errors: unknown }).errors, [])
    return
  }
  for (const [, name = ''] of text.matchAll(/([\w-]+\.pem)\b/g))
    writeFileSync(join(gateway.folder, name), certificateFor(name))
  const key = 'gateway_key' in value ? '' : 'gateway_key: guard_0123456789abcdef\n'
  await parseConfig(key + text, join(gateway.folder, 'guard-config.yml'), environmentOf(text))
}

const json = async ({ text }: Block): Promise<void> => {
  JSON.parse(text)
}

const nginx = async ({ text }: Block): Promise<void> => {
  const { path, absent } = installed('nginx')
  if (absent !== false) return
  const folder = mkdtempSync(join(tmpdir(), 'guard-nginx-'))
  try {
    const file = join(folder, 'nginx.conf')
    const inside = /^\s*(?:http|events)\b/m.test(text) ? text : `events {}\nhttp { server { ${text} } }`
    writeFileSync(file, `pid ${folder}/nginx.pid;\nerror_log stderr;\n${inside}`)
    execFileSync(path, ['-t', '-p', folder, '-c', file], { stdio: 'pipe' })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const sources = new Set(
  globSync('{core,plugins,presets,bench}/**/*.ts', { cwd: root }).map((file) => file.replaceAll('\\', '/')),
)

/** Drawings: every file that they name is there. */
const drawing = async ({ text }: Block): Promise<void> => {
  for (const [name = ''] of text.matchAll(/[\w./-]+\.ts\b/g))
    assert.ok(
      [...sources].some((file) => file.endsWith(`/${name}`)),
      name,
    )
}

export const validators: Readonly<Record<string, (block: Block, gateway: Started) => Promise<void>>> = {
  yaml,
  json,
  nginx,
  text: drawing,
  '': drawing,
}
