import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Check, ok, warning } from './check.ts'

/** Checks that the profiles of setup use the configured address. */
export const profiles: Check = async ({ io, config, address }) => {
  if (config === undefined) return []
  const folder = join(io.cwd, 'profiles')
  const files = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  const stale: string[] = []
  let found = 0
  for (const file of files) {
    if (!file.isFile() || file.parentPath.endsWith('keys')) continue
    const text = await readFile(join(file.parentPath, file.name), 'utf8')
    if (!text.includes('written by guard setup')) continue
    found++
    if (/https?:\/\/[^\s"']*/.test(text) && !text.includes(address)) stale.push(join(file.parentPath, file.name))
  }
  if (found === 0) return [ok('no profiles; "guard run -- <agent>" needs none')]
  if (stale.length === 0) return [ok(`${found} profiles for ${address}`)]
  return stale.map((file) => warning(`${file} leads to another address than ${address}`, 'Run "guard setup" again.'))
}
