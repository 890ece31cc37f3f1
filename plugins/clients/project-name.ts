import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isJsonObject, readJson } from 'guard-gateway/lib/json'

const MAX_NAME = 128

/** Project name of a folder: the name in the nearest package.json, else the folder's name. */
export const projectName = async (folder: string): Promise<string> => {
  for (let at = folder; ; at = dirname(at)) {
    const name = await packageName(join(at, 'package.json'))
    if (name !== undefined) return reduced(name)
    if (dirname(at) === at) return reduced(basename(folder))
  }
}

const packageName = async (file: string): Promise<string | undefined> => {
  try {
    const found = readJson(await readFile(file, 'utf8'))
    return isJsonObject(found) && typeof found.name === 'string' && found.name !== '' ? found.name : undefined
  } catch {
    return undefined
  }
}

const reduced = (name: string): string =>
  name
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[-.]+|-+$/g, '')
    .slice(0, MAX_NAME) || 'default'
