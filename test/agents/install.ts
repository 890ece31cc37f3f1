import { execFile } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Agent } from './agent.ts'

const run = promisify(execFile)
const LIMIT_MS = 600_000

/** The folder that an agent is installed in: each has its own, so that one that cannot be had leaves the others alone. */
export const placeOf = (folder: string, { id }: Agent): string => join(folder, id)

/** Installs an agent, with no install script but the one that unpacks the agent itself; resolves to why that failed. */
export const install = async (folder: string, agent: Agent): Promise<string | undefined> => {
  const place = placeOf(folder, agent)
  if (await isThere(place, agent)) return undefined
  await mkdir(place, { recursive: true })
  await writeFile(join(place, 'package.json'), '{"private":true}', { flag: 'wx' }).catch(() => {})
  // npm runs on the Node that runs this
  const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` }
  const words = [
    'install',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    `${agent.package}@${agent.version}`,
  ]
  try {
    await run('npm', words, { cwd: place, env, timeout: LIMIT_MS })
    const cwd = join(place, 'node_modules', agent.package)
    if (agent.prepare !== undefined) await run(process.execPath, [agent.prepare], { cwd, env, timeout: LIMIT_MS })
    return (await isThere(place, agent)) ? undefined : 'npm ended well, and the command is not there'
  } catch (error) {
    const said = String(Reflect.get(error as object, 'stderr') ?? error)
    return said.split('\n').slice(0, 2).join('; ') || String(error)
  }
}

/** Whether this version and its command are there. */
export const isThere = async (place: string, agent: Agent): Promise<boolean> => {
  try {
    const file = join(place, 'node_modules', agent.package, 'package.json')
    await readFile(join(place, 'node_modules/.bin', agent.command))
    return JSON.parse(await readFile(file, 'utf8')).version === agent.version
  } catch {
    return false
  }
}
